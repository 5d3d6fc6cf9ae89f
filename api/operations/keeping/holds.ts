import { type Hold, holdsOf, KEPT, type KeepingCommand, type KeepingState } from '../../../domain/access/keeping.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'
import { kindOf } from '../../../domain/log/owner.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import { newId } from '../access/key-text.ts'
import type { OperationCaller } from '../operation.ts'
import { notFound } from '../problem.ts'
import { keyedRunId, untilShown } from '../runs/idempotency.ts'
import { mustWrite } from '../runs/record-command.ts'
import type { Services } from '../services.ts'
import { askerOf } from '../streams/record.ts'

/** Records a change of the retention or of a legal hold. */
export async function changeKeeping(
  s: Services,
  command: KeepingCommand,
  caller: OperationCaller,
  by: string | undefined,
): Promise<{ readonly revision: number; readonly recorded: boolean }> {
  mustWrite(s)
  const asker = await askerOf(s, caller, by, { keeping: command })
  const done = await s.keeping.change(command, asker, caller.options.expectedRevision)
  await untilShown(s)
  return done
}

/** Holds a run or a stream. Rejects with NOT_FOUND for one that is not in the log. */
export async function setHold(
  s: Services,
  asked: { readonly of: string; readonly reason: string; readonly by?: string | undefined },
  caller: OperationCaller,
) {
  const of = await streamToHold(s, asked.of)
  const { key } = caller.options
  // A repeat of the request has the same id.
  const hold = key === undefined ? newId(s.random) : keyedRunId(s, 'hold', key).slice(0, 8)
  const { reason, by } = asked
  return { hold, of, ...(await changeKeeping(s, { kind: 'set_hold', hold, of, reason }, caller, by)) }
}

async function streamToHold({ log }: Pick<Services, 'log'>, of: string): Promise<string> {
  if (AGGREGATES.has(kindOf(of)) && (await log.head(of)) !== null) return of
  const stream = await streamOfAgent(log, of)
  if (stream !== null) return stream
  throw notFound('run or stream', of, 'keepup runs list and keepup streams list show them')
}

export function holdView({ id, of, reason, by, at, lifted }: Hold) {
  const times = { by, at: timeOf(at) }
  return { hold: id, of, reason, ...times, lifted: lifted && { ...lifted, at: timeOf(lifted.at) } }
}

/** The holds, oldest first. `all`: also those that were lifted. */
export const holdViews = (state: KeepingState, all: boolean) =>
  holdsOf(state)
    .filter(({ lifted }) => all || lifted === null)
    .map(holdView)

export const retentionView = ({ retention }: KeepingState) =>
  KEPT.map((of) => {
    const { days = null, by = null, at = null } = retention[of] ?? {}
    return { of, days, by, at: at === null ? null : timeOf(at) }
  })

const timeOf = (ms: number): string => new Date(ms).toISOString()
