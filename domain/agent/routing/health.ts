import type { HealthFigures, HealthThresholds } from './decision.ts'

// The rolling health of one model: a circuit breaker over its last calls. Pure; times in ms since the epoch.

/** The end of a call. Only the durations of answers count for the median. */
export interface ObservedCall {
  readonly at: number
  readonly end: 'answer' | 'error' | 'timeout'
  readonly durationMs: number
}

export interface HealthWindow {
  /** The latest calls, the oldest first. */
  readonly calls: readonly ObservedCall[]
  /** A probe call is running; other calls avoid the model. */
  readonly probing: boolean
}

export const NO_OBSERVATIONS: HealthWindow = { calls: [], probing: false }

const MAX_CALLS = 100

/** A call begins. In a half-open model it is the probe. */
export const begun = (window: HealthWindow, limits: HealthThresholds, now: number): HealthWindow =>
  figuresOf(window, limits, now).health === 'half_open' ? { ...window, probing: true } : window

/** A call has ended. `probe`: the call was the probe; its answer closes the circuit, its failure keeps it open. */
export function ended(window: HealthWindow, call: ObservedCall, probe: boolean): HealthWindow {
  const probing = window.probing && !probe
  if (probe && call.end === 'answer') return { calls: [call], probing }
  return { calls: [...window.calls, call].slice(-MAX_CALLS), probing }
}

export function figuresOf({ calls: all, probing }: HealthWindow, limits: HealthThresholds, now: number): HealthFigures {
  const calls = all.filter(({ at }) => now - at < limits.windowMs)
  const count = (end: ObservedCall['end']) => calls.filter((call) => call.end === end).length
  const [errors, timeouts, medianMs] = [count('error'), count('timeout'), median(calls)]
  const figures = { calls: calls.length, errors, timeouts, medianMs }
  const breach = breachOf(figures, limits)
  if (breach === null) return { ...figures, health: 'healthy' }
  const waits = probing || now - (calls.at(-1)?.at ?? now) < limits.probeAfterMs
  return { ...figures, health: waits ? 'unhealthy' : 'half_open', breach }
}

type Counted = Omit<HealthFigures, 'health' | 'breach'>

/** The threshold that the figures have crossed, or null. */
function breachOf({ calls, errors, timeouts, medianMs }: Counted, limits: HealthThresholds) {
  if (calls < limits.minCalls) return null
  if (errors / calls >= limits.errorRate) return 'errorRate'
  if (timeouts / calls >= limits.timeoutRate) return 'timeoutRate'
  return limits.slowMs !== null && medianMs !== null && medianMs >= limits.slowMs ? 'slowMs' : null
}

/** The lower median of the durations of answers; null: no answer. */
function median(calls: readonly ObservedCall[]): number | null {
  const times = calls.flatMap(({ end, durationMs }) => (end === 'answer' ? [durationMs] : [])).sort((a, b) => a - b)
  return times[Math.floor((times.length - 1) / 2)] ?? null
}
