import { undelivered } from '../courier/ledger.ts'
import { effectId } from '../log/ids.ts'
import { type ExternalState, hasProcess, inDoubt, isRunOver, runsItself } from './state.ts'

/** The effects that a run owes. */
export type ExternalOwed =
  /** Start the process, once. A running process that is no longer owed must be ended. */
  | { readonly kind: 'process'; readonly id: string; readonly epoch: number }
  /** End the processes that an earlier driver may have left on its host, then record `reaped`. */
  | { readonly kind: 'reap'; readonly id: string; readonly epoch: number }

/** The longest time in which a process ends, in ms: SIGTERM, SIGKILL 5 s later, given up 5 s after that. */
export const GRACE_MS = 5_000
export const GIVE_UP_MS = 5_000

export function owedExternal(state: ExternalState): readonly ExternalOwed[] {
  const { stage, agentId } = state
  if (stage.at !== 'running' || !hasProcess(state)) return []
  const { epoch } = stage
  if (inDoubt(state)) return [{ kind: 'reap', id: effectId(`${agentId}.reap`, epoch), epoch }]
  return state.cancelledAt === null ? [{ kind: 'process', id: effectId(`${agentId}.process`, epoch), epoch }] : []
}

/**
 * When a driver must next look at the run: immediately if the run waits for a driver, else when its process must have
 * ended.
 */
export function wakeExternalAt(state: ExternalState): number | null {
  // A courier must deliver the end.
  if (isRunOver(state)) return undelivered(state).length > 0 ? state.at : null
  if (!hasProcess(state)) return null
  if (!runsItself(state)) return state.at
  const since = state.stage.at === 'running' ? state.stage.since : state.at
  const { timeoutMs } = state.request
  const limits = [state.cancelledAt, timeoutMs === undefined ? null : since + timeoutMs].filter((at) => at !== null)
  return limits.length === 0 ? null : Math.min(...limits) + GRACE_MS + GIVE_UP_MS
}
