import type { EventOf } from '../events/events.ts'
import type { AgentState } from './state.ts'

// The fold of restores (CONTRACTS 5).

export const restoreBegun = (
  state: AgentState,
  { revision: since, body: { tree, replaces } }: EventOf<'restore_requested'>,
): AgentState => ({ ...state, restoring: { since, tree, replaces } })

/** After a successful restore the files are those of the restored version, so that failed calls may succeed. */
export function restoreEnded(state: AgentState, { revision, body }: EventOf<'restore_ended'>): AgentState {
  const { restoring } = state
  const ended = { ...state, restoring: null }
  if (restoring?.since !== body.restore || body.outcome !== 'restored') return ended
  return { ...ended, tree: restoring.tree, failedCalls: [], forgivenAt: revision }
}
