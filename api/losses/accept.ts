import type { Actor } from '../../domain/log/envelope.ts'
import { agentStream } from '../../domain/log/ids.ts'
import type { EventLog } from '../../domain/ports.ts'
import { acceptLogLoss, acceptLoss } from '../../domain/runtime/losses.ts'
import type { RuntimePorts } from '../../domain/runtime/ports.ts'
import type { Loss } from './loss.ts'

/** What ends a stream for good: nothing of such a run can be repeated. */
const LAST: ReadonlySet<string> = new Set(['completion', 'residue', 'erased'])

/**
 * Records that a person accepts a loss: in each shortened stream, and in `log-meta` what no stream can record. What was recorded
 * before a crash is found again and not repeated. Gives the runs that are shortened.
 */
export async function recordAcceptance(
  ports: RuntimePorts,
  loss: Loss,
  { by, reason }: { readonly by: Actor; readonly reason?: string },
): Promise<readonly string[]> {
  const why = reason === undefined ? {} : { reason }
  const about = { by, id: loss.id }
  const shortened = loss.streams.filter(({ stream, kept }) => kept >= 0 && stream.startsWith('agent-'))
  for (const { runId, revision, hash, calls, unlisted } of shortened)
    await acceptLoss(
      ports,
      runId,
      { revision, hash, calls: [...calls], ...(unlisted ? { unlisted } : {}), ...why },
      about,
    )
  const runs = shortened.map(({ runId }) => runId)
  if (loss.unlisted) {
    for await (const agentId of unfinished(ports.log, new Set(runs))) {
      await acceptLoss(ports, agentId, { revision: null, hash: null, calls: [], unlisted: true, ...why }, about)
      runs.push(agentId)
    }
  }
  const vanished = loss.streams
    .filter((one) => !shortened.includes(one))
    .map(({ stream, revision, hash }) => ({ stream, revision, hash }))
  const { id, end, mark, tables, gaps } = loss
  await acceptLogLoss(ports, { id, end, mark, tables, vanished, gaps: [...gaps], ...why }, by)
  return runs
}

/** Agents whose runs may go on, but for those that are known. */
async function* unfinished(log: EventLog, known: ReadonlySet<string>): AsyncGenerator<string> {
  for await (const names of log.streams('agent-')) {
    for (const name of names) {
      const agentId = name.slice('agent-'.length)
      const head = known.has(agentId) ? null : await log.head(agentStream(agentId))
      if (head === null) continue
      for await (const [event] of log.read(name, { from: head.revision, limit: 1, bodies: false }))
        if (event !== undefined && !LAST.has(event.header.type)) yield agentId
    }
  }
}
