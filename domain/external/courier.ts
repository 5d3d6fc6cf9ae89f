import type { Delivery } from '../courier/delivery-commands.ts'
import type { Origin } from '../courier/events.ts'
import { acceptedFrom, type Courier, placeOf, rankOf, settled } from '../courier/ledger.ts'
import type { ReportedEnd } from '../tree/events.ts'
import { NO_AMOUNTS, NO_REPORT } from '../tree/family.ts'
import { NOT_TERMINATED } from './errors.ts'
import type { ExternalEvent } from './events.ts'
import type { Outcome } from './outcome.ts'
import type { ExternalState } from './state.ts'
import { overBudget } from './usage.ts'

// The only obligation of a delegated external run: to report its end to the parent (DESIGN, Flow: Between streams).

/** The obligations after an event; null: the event cannot follow. */
export function externalCourierAfter(state: ExternalState, event: ExternalEvent): Courier | null {
  const { courier, reportsTo } = state
  if (event.type === 'delivered') {
    const owed = settled(state, event.body)
    return owed === null ? null : { ...courier, owed }
  }
  if (event.type === 'cancel_requested' && event.body.origin !== undefined) return accepting(state, event.body.origin)
  if (event.type !== 'external_ended' || reportsTo === null) return courier
  const { revision } = event
  return { ...courier, owed: { ...courier.owed, [reportsTo]: { accepted: -1, from: revision, last: revision } } }
}

function accepting(state: ExternalState, origin: Origin): Courier | null {
  const rank = rankOf(origin)
  if (rank <= acceptedFrom(state, origin.stream)) return null
  return { ...state.courier, accepted: { ...state.courier.accepted, [origin.stream]: rank } }
}

/**
 * The command that delivers an event of a run; null: the event is no obligation to this target. `hash`: the chain hash
 * of the event.
 */
export function externalDeliveryOf(
  state: ExternalState,
  event: ExternalEvent,
  to: { readonly stream: string; readonly target: string; readonly after: number; readonly hash: string },
): Delivery | null {
  if (event.type !== 'external_ended' || to.target !== state.reportsTo) return null
  const origin = { stream: to.stream, ...placeOf(state, event.revision), bodyHash: event.bodyHash }
  return { origin, after: to.after, kind: 'deliver_reported_end', hash: to.hash, end: reportedEnd(state, event.body) }
}

/** The end of a run, in the form that its parent records. */
function reportedEnd(state: ExternalState, outcome: Outcome): ReportedEnd {
  return { ...resultOf(state, outcome), artifacts: [], unmetGates: [...state.gates], report: reportOf(state, outcome) }
}

function resultOf(
  { backend, usage, request: { budget } }: ExternalState,
  outcome: Outcome,
): Pick<ReportedEnd, 'status' | 'code' | 'message'> {
  const failed = (code: string, message: string) => ({ status: 'failed', code, message }) as const
  switch (outcome.outcome) {
    case 'exited': {
      const { code, signal } = outcome.exit
      if (outcome.success)
        return { status: 'completed', message: outcome.finalText ?? `${backend} ended without a word` }
      const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`
      return failed('EXECUTION_FAILED', `${backend} ${how}; look at its events`)
    }
    case 'cancelled': {
      const over = budget === undefined || usage === null ? null : overBudget(usage, budget)
      return over === null ? failed('CANCELLED', `${backend} was cancelled`) : failed('BUDGET_EXCEEDED', over)
    }
    case 'unknown':
      return failed('UNKNOWN_OUTCOME', `${outcome.reason}; look at the files before anything is done again`)
    case 'failed':
      return failed('EXECUTION_FAILED', outcome.error.message || `${backend} failed`)
  }
}

/**
 * The usage that the run reports to its parent, once. If the backend reported only part of the usage, the rest of the
 * granted budget counts as uncertain. A run that never started has used nothing.
 */
function reportOf({ usage, request: { budget }, driver }: ExternalState, outcome: Outcome): ReportedEnd['report'] {
  const own = usage?.scope === 'run' ? usage : null
  const cacheRead = Math.min(own?.cachedInputTokens ?? 0, own?.inputTokens ?? 0)
  const input = (own?.inputTokens ?? 0) - cacheRead
  const output = own?.outputTokens ?? 0
  const nanoDollars = own?.cost?.scope === 'run' ? own.cost.nanoDollars : 0
  const spent = { ...NO_REPORT.spent, input, output, cacheRead, nanoDollars, agents: 1 }
  // A failed outcome without an exit status means that the process never started, unless the process did not terminate.
  const unstarted = outcome.outcome === 'failed' && outcome.exit === null && outcome.error.message !== NOT_TERMINATED
  const started = driver !== null && !unstarted
  const seen = outcome.outcome === 'exited' || !started
  const open = (told: boolean, most: number | null | undefined, used: number) =>
    (told && seen) || !started ? 0 : Math.max(0, (most ?? 0) - used)
  const uncertain = {
    ...NO_AMOUNTS,
    tokens: open(own?.outputTokens != null, budget?.tokens, input + output + cacheRead),
    nanoDollars: open(own?.cost != null, budget?.nanoDollars, nanoDollars),
  }
  return { spent, uncertain }
}
