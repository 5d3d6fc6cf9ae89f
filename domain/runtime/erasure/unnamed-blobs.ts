import { ATTACHING } from '../../agent/events/attachment.ts'
import { agentStream } from '../../log/ids.ts'
import { attachmentIn } from '../history/attachments.ts'
import { bodyOf } from '../history/bodies.ts'
import type { RuntimePorts } from '../ports.ts'

/**
 * Removes every blob of a run that no event of its stream names: a part of the log that was lost leaves them behind. Forks
 * keep what they name under their own run id. Blobs that are on their way to the log stay. Rejects as the stores do, also
 * where an event cannot be read that may name a whole result: then nothing is removed.
 */
export async function removeUnnamed(
  { log, blobs, intents }: Pick<RuntimePorts, 'log' | 'blobs' | 'intents'>,
  runId: string,
): Promise<void> {
  // In this order: a blob that was listed is still noted as on its way, or the log names it, or it belongs to no event.
  const unnamed = new Set(await blobs.list(runId))
  if (unnamed.size === 0) return
  for (const { hash, ...intent } of (await intents?.left()) ?? []) if (intent.runId === runId) unnamed.delete(hash)
  let attaching = false
  for await (const page of log.read(agentStream(runId), { bodies: false })) {
    for (const { header, erased } of page) {
      if (erased) continue
      unnamed.delete(header.body.hash)
      attaching ||= ATTACHING.has(header.type)
    }
  }
  if (attaching && unnamed.size > 0) {
    for await (const page of log.read(agentStream(runId))) {
      for (const event of page) {
        if (event.erased || !ATTACHING.has(event.header.type)) continue
        const attachment = attachmentIn(event.header, await bodyOf({ log, blobs }, event))
        if (attachment !== undefined) unnamed.delete(attachment.hash)
      }
    }
  }
  for (const hash of unnamed) await blobs.delete(runId, hash)
}
