import type { Services } from '../services.ts'
import { bad, type Finding, ok } from './finding.ts'

/** A consumer that is behind and has acked nothing for this time is reported, in ms. */
const SILENT_MS = 60 * 60_000

/** Whether the consumers of the log keep up with it. */
export async function checkConsumers({ consumers, clock }: Services): Promise<Finding[]> {
  return (await consumers.list()).map(({ name, lag, lastAckAt, createdAt }) => {
    const last = lastAckAt === null ? 'no ack yet' : `last ack ${lastAckAt}`
    const found = `${name}: ${last}, ${lag ?? 'unknown'} events behind`
    const remove = `"keepup consumers remove ${name}" removes it`
    if (lag === null)
      return bad('warning', 'consumer', `${found}; its position is of another log`, `${remove}; then create it again`)
    if (lag === 0 || clock.now() - Date.parse(lastAckAt ?? createdAt) < SILENT_MS) return ok('consumer', found)
    return bad('warning', 'consumer', `${found}; its lag grows`, `start its reader; ${remove}`)
  })
}
