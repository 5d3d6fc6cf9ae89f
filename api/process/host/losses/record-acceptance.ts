import { acceptLogLoss, recordAcceptedLoss } from '../../../../domain/agent/runtime/losses.ts'
import { isStreamDamage } from '../../../../domain/log/damage.ts'
import type { Actor } from '../../../../domain/log/envelope.ts'
import type { LogLoss } from '../../../../domain/log/loss/loss.ts'
import type { EventLog } from '../../../../domain/ports/index.ts'
import type { RuntimePorts } from '../../../../domain/ports/runtime.ts'
import type { Loss, Unreadable } from '../../../operations/losses/loss.ts'
import type { Acceptance } from '../../../operations/losses/losses.ts'
import { lastOf } from './last-event.ts'

/**
 * Types of events that end a finished stream. A stream that ends with one of them need not be folded: no call of its
 * run can be repeated.
 */
const LAST: ReadonlySet<string> = new Set(['completion', 'residue', 'erased'])

/**
 * Records that a person accepts a loss. Each shortened stream records its own part, and `log-meta` records the rest.
 * After a crash, call it again: it skips the parts that are already recorded. `kept`: see {@link LogLoss}.
 */
export async function recordAcceptance(
  ports: RuntimePorts,
  loss: Loss,
  { by, reason, kept }: { readonly by: Actor; readonly reason?: string; readonly kept?: number },
): Promise<Acceptance> {
  const why = reason === undefined ? {} : { reason }
  const about = { by, id: loss.id }
  const runs: string[] = []
  const unreadable: Unreadable[] = []
  const accept = async (agentId: string, stream: string, ...[body, more]: Said) => {
    const done = await recordAcceptedLoss(ports, agentId, { ...body, ...why }, { ...about, ...more })
    if (done === 'recorded') runs.push(agentId)
    if (typeof done === 'object')
      unreadable.push({ stream, revision: (await lastOf(ports.log, stream))?.revision ?? null, code: done.unreadable })
  }
  const shortened = loss.streams.filter(({ stream, kept }) => kept >= 0 && stream.startsWith('agent-'))
  for (const { stream, runId, revision, hash, calls, unlisted, nanoDollars, unreadable: before } of shortened) {
    const seen = before === undefined ? { revision, hash } : { revision: null, hash: null }
    const money = before === undefined ? { nanoDollars } : {}
    await accept(runId, stream, { ...seen, calls: [...calls], ...(unlisted ? { unlisted } : {}), ...money })
  }
  const empty: string[] = []
  if (loss.unlisted) {
    const known = new Set(shortened.map(({ stream }) => stream))
    const nothingKnown = { revision: null, hash: null, calls: [], unlisted: true } as const
    for await (const stream of maybeUnfinished(ports.log, known)) {
      // A log may still list a stream whose events are all lost.
      if (await isEmpty(ports.log, stream)) empty.push(stream)
      else await accept(stream.slice(AGENT.length), stream, { ...nothingKnown, calls: [] }, { unfinished: true })
    }
  }
  const gone = loss.streams.filter((one) => !shortened.includes(one))
  const vanished = [
    ...gone.map(({ stream, revision, hash, nanoDollars }) => ({ stream, revision, hash, nanoDollars })),
    ...empty
      .filter((stream) => !gone.some((one) => one.stream === stream))
      .map((stream) => ({ stream, revision: -1, hash: '' })),
  ]
  const { id, end, tables, gaps } = loss
  const mark = loss.mark ?? loss.heads ?? null
  const named = unreadable.length === 0 ? {} : { unreadable }
  const known = kept === undefined ? {} : { kept }
  await acceptLogLoss(ports, { id, end, mark, tables, vanished, ...named, gaps: [...gaps], ...known, ...why }, by)
  return { runs, unreadable }
}

type Said = [body: Parameters<typeof recordAcceptedLoss>[2], more?: { readonly unfinished: boolean }]

const AGENT = 'agent-'

async function isEmpty(log: EventLog, stream: string): Promise<boolean> {
  try {
    return (await log.head(stream)) === null
  } catch (error) {
    if (isStreamDamage(error)) return false
    throw error
  }
}

/** Streams of agents whose runs may not have ended, except the known ones. */
async function* maybeUnfinished(log: EventLog, known: ReadonlySet<string>): AsyncGenerator<string> {
  for await (const names of log.streams(AGENT)) {
    for (const name of names) {
      if (known.has(name)) continue
      const last = await lastOf(log, name)
      if (last === null || !LAST.has(last.type)) yield name
    }
  }
}
