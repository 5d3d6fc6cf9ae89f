import { backoff } from '../../calls/judge-retry.ts'
import { lastTurn, timeIsOver } from '../rules/recovery.ts'
import { type AgentState, type ModelStage, recoveryOf } from '../state/state.ts'
import { waitedFor } from './outage-state.ts'
import { resolvesAnother } from './routing.ts'

// The step after a failed model attempt: another attempt, a wait for a model to recover, another turn, or the end.

/** The longest wait between two attempts in an outage, ms. */
export const OUTAGE_BACKOFF_CAP_MS = 5 * 60_000
/** The shortest first wait, ms. Each further wait is at least twice as long. */
const OUTAGE_BACKOFF_MS = 1_000

export interface FailedAttempt {
  readonly code: string
  readonly message: string
  readonly transient: boolean
  readonly retryAfterMs?: number
}

export type AfterFailure =
  | { readonly next: 'again'; readonly delayMs: number; readonly outage?: true; readonly limited?: true }
  | { readonly next: 'turn' }
  | { readonly next: 'end'; readonly why: string }

type Calling = Extract<ModelStage, { at: 'calling' }>

export function afterFailure(
  state: AgentState,
  open: Calling,
  error: FailedAttempt,
  { now, jitter }: { now: number; jitter(): number },
): AfterFailure {
  const { retry } = state.spec
  const reason = `${error.code}: ${error.message}`
  if (!error.transient && !retry.retryableErrors.includes(error.code)) return { next: 'end', why: reason }
  const recovery = recoveryOf(state.machine)
  const tried = open.attempt - open.lost - (open.held ?? 0)
  const again = () => backoff(retry, tried, jitter(), error.retryAfterMs)
  // A run whose time is over does not retry: the next turn is the warning turn.
  if (recovery === null && open.outage === undefined && timeIsOver(state, now)) return { next: 'turn' }
  if (tried <= retry.maxRetries) {
    const asked = error.retryAfterMs !== undefined && error.retryAfterMs > 0 && recovery === null
    return { next: 'again', delayMs: again(), ...(asked ? { limited: true } : {}) }
  }
  const outageMs = retry.modelOutageMs ?? 0
  if (outageMs === 0 || error.code === UNUSABLE || anotherMayServe(state, open.model)) return { next: 'turn' }
  if (recovery !== null) return { next: 'again', delayMs: Math.max(OUTAGE_BACKOFF_MS, again()) }
  const left = outageMs - waitedFor(state, open, now)
  if (left <= 0) return { next: 'end', why: `no model has answered for ${Math.round(outageMs / 1000)} s: ${reason}` }
  const grown = {
    ...retry,
    backoffMs: Math.max(OUTAGE_BACKOFF_MS, retry.backoffMs),
    backoffMultiplier: Math.max(2, retry.backoffMultiplier),
    backoffCapMs: OUTAGE_BACKOFF_CAP_MS,
  }
  return { next: 'again', delayMs: Math.min(left, backoff(grown, tried, jitter(), error.retryAfterMs)), outage: true }
}

/** The model itself failed with an unusable answer, so there is no outage to wait for. */
const UNUSABLE = 'INVALID_RESPONSE'

/** Whether there is a next turn and it resolves a model that has not failed yet. */
function anotherMayServe(state: AgentState, model: string): boolean {
  const recovery = recoveryOf(state.machine)
  const nextTurn = recovery === null || state.turn < lastTurn(state, recovery)
  return nextTurn && resolvesAnother(state, model)
}
