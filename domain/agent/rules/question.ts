import { questionHash, type SeenFile } from '../../calls/question.ts'
import { instantText } from '../../log/instant.ts'
import { undecided } from '../state/loss-rules.ts'
import { type AgentState, type Call, callsOf } from '../state/state.ts'

/** The hash of an approval question. `expiresAt`: ms. */
export const approvalHash = (
  { id, argumentsHash }: Pick<Call, 'id' | 'argumentsHash'>,
  expiresAt: number,
  files: readonly SeenFile[],
): string => questionHash({ for: 'approval', toolCallId: id, argumentsHash, asked: instantText(expiresAt) }, files)

/** The hash of the question whether a call happened. Null: its outcome is not in doubt. */
export function doubtHash(state: AgentState, toolCallId: string): string | null {
  const hash = (argumentsHash: string | null, asked: number | null) =>
    questionHash({ for: 'doubt', toolCallId, argumentsHash, asked })
  const lost = undecided(state).find(({ id }) => id === toolCallId)
  if (lost !== undefined) return hash(lost.argumentsHash, state.loss?.since ?? null)
  const call = callsOf(state).find(({ id, stage }) => id === toolCallId && stage.at === 'doubt')
  if (call !== undefined) return hash(call.argumentsHash, call.since)
  return state.unresolved.includes(toolCallId) ? hash(null, null) : null
}
