import { undelivered } from '../agent/state/courier.ts'
import { effectId } from '../log/ids.ts'
import { type ExternalState, inDoubt, isFinished, runsItself } from './state.ts'

/** The effects that a run owes the world. */
export type ExternalOwed =
  /** The process is to be started, once. At work and no longer owed: it is to be ended. */
  | { readonly kind: 'process'; readonly id: string; readonly epoch: number }
  /** The processes that an earlier driver may have left are to be ended on its host; then `reaped` is brought in. */
  | { readonly kind: 'reap'; readonly id: string; readonly epoch: number }

/** How long the end of a process takes at most: SIGTERM, SIGKILL 5 s later, given up 5 s after that. In ms. */
export const GRACE_MS = 5_000
export const GIVE_UP_MS = 5_000

export function owed(state: ExternalState): readonly ExternalOwed[] {
  const { stage, agentId } = state
  if (stage.at !== 'running') return []
  const { epoch } = stage
  if (inDoubt(state)) return [{ kind: 'reap', id: effectId(`${agentId}.reap`, epoch), epoch }]
  return state.cancelledAt === null ? [{ kind: 'process', id: effectId(`${agentId}.process`, epoch), epoch }] : []
}

/** When the run must be driven next: at once where it waits for a driver, else when its process must have ended. */
export function wakeAt(state: ExternalState): number | null {
  // A courier is to deliver the end.
  if (isFinished(state)) return undelivered(state).length > 0 ? state.at : null
  if (!runsItself(state)) return state.at
  const since = state.stage.at === 'running' ? state.stage.since : state.at
  const { timeoutMs } = state.request
  const limits = [state.cancelledAt, timeoutMs === undefined ? null : since + timeoutMs].filter((at) => at !== null)
  return limits.length === 0 ? null : Math.min(...limits) + GRACE_MS + GIVE_UP_MS
}
