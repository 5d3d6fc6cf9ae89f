import type { EventOf } from '../events/events.ts'
import type { AgentState } from './state.ts'

/** A restore whose end is not recorded. */
export interface Restoring {
  /** Revision of the request. */
  readonly since: number
  readonly tree: string
  readonly replaces: string
}

export const restoreBegun = (
  state: AgentState,
  { revision: since, body: { tree, replaces } }: EventOf<'restore_requested'>,
): AgentState => ({ ...state, restoring: { since, tree, replaces } })

/** The files are those of the version that was put back; what failed before may succeed with them. */
export function restoreEnded(state: AgentState, { revision, body }: EventOf<'restore_ended'>): AgentState {
  const { restoring } = state
  const ended = { ...state, restoring: null }
  if (restoring?.since !== body.restore || body.outcome !== 'restored') return ended
  return { ...ended, tree: restoring.tree, failedCalls: [], forgivenAt: revision }
}
