import type { BodyOf } from '../../../agent/events/events.ts'
import { agentStream } from '../../../log/ids.ts'
import { idOf } from '../../../log/owner.ts'
import { history } from './history.ts'
import { stateAt } from './replay.ts'

/** How far a fork has followed the record of the run that it was made of (seed 000, 5.9). */
export interface ReusedRecord {
  /** The agent whose record it is. */
  readonly source: string
  /** Outcomes that were taken: of models, and of calls. */
  readonly models: number
  readonly tools: number
  /** Where it left the record, and why; null: it has not. */
  readonly left:
    | (Pick<BodyOf<'reuse_ended'>, 'reason' | 'differs'> & {
        readonly revision: number
        readonly turn: number
        /** Null: at a request to the model. */
        readonly toolCallId: string | null
      })
    | null
}

/** The same for an agent; null: it takes nothing from a record. Rejects as replay does. */
export async function reusedRecord(
  ports: Parameters<typeof stateAt>[0],
  agentId: string,
): Promise<ReusedRecord | null> {
  const { reuse } = (await stateAt(ports, agentId, null)).state
  if (!reuse) return null
  const { stream, models, tools, left: at } = reuse
  const taken = { source: idOf(stream), models, tools }
  if (at === null) return { ...taken, left: null }
  for await (const page of history(ports, agentId, { from: at, to: at }))
    for (const { event } of page) {
      if (event.type !== 'reuse_ended' || event.revision !== at) continue
      const { turn, toolCallId = null, body } = event
      return { ...taken, left: { revision: at, turn, toolCallId, reason: body.reason, differs: body.differs } }
    }
  throw new Error(`${agentStream(agentId)}@${at} is not where its state says`)
}
