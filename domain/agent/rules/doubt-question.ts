import { questionHash } from '../../calls/question-hash.ts'
import { undecided } from '../state/loss-rules.ts'
import { type AgentState, callsOf } from '../state/state.ts'

/** The hash of the question whether a call happened. Null: its outcome is not in doubt. */
export function doubtHash(state: AgentState, toolCallId: string): string | null {
  const hash = (argumentsHash: string | null, asked: number | null) =>
    questionHash({ for: 'doubt', toolCallId, argumentsHash, asked })
  const lost = undecided(state).find(({ id }) => id === toolCallId)
  if (lost !== undefined) return hash(lost.argumentsHash, state.loss?.since ?? null)
  const call = callsOf(state).find(({ id, stage }) => id === toolCallId && stage.at === 'doubt')
  if (call?.stage.at === 'doubt') return hash(call.argumentsHash, call.stage.asked ?? call.since)
  return state.unresolved.includes(toolCallId) ? hash(null, null) : null
}
