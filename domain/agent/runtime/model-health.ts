import type { Clock } from '../../ports/index.ts'
import { type HealthFigures, HealthThresholds } from '../routing/decision.ts'
import { begun, ended, figuresOf, type HealthWindow, NO_OBSERVATIONS, type ObservedCall } from '../routing/health.ts'

/** The end of a call, for its model's health. `none`: the end says nothing about the model. */
export type CallEnd = ObservedCall['end'] | 'none'

/**
 * The rolling health of the models that this process calls. Each process has its own figures: failures are often caused
 * by the host's own network, decisions need no round trip, and few calls suffice. A decision records the figures that
 * it used, so that the log explains the decision.
 */
export class ModelHealth {
  readonly #clock: Pick<Clock, 'now'>
  readonly #limits: HealthThresholds
  readonly #windows = new Map<string, HealthWindow>()

  constructor(clock: Pick<Clock, 'now'>, limits: HealthThresholds = HealthThresholds.parse({})) {
    this.#clock = clock
    this.#limits = limits
  }

  /** A call of the model begins. Call the returned function once at its end; further calls have no effect. */
  begin(model: string): (end: CallEnd) => void {
    const from = this.#clock.now()
    const before = this.#of(model)
    const after = begun(before, this.#limits, from)
    const probe = after.probing && !before.probing
    this.#windows.set(model, after)
    let open = true
    return (end) => {
      if (!open) return
      open = false
      const at = this.#clock.now()
      const window = this.#of(model)
      const durationMs = Math.max(0, Math.round(at - from))
      if (end !== 'none') this.#windows.set(model, ended(window, { at, end, durationMs }, probe))
      else if (probe) this.#windows.set(model, { ...window, probing: false })
    }
  }

  /** The current figures; undefined: no call was observed. */
  figures(model: string): HealthFigures | undefined {
    const window = this.#windows.get(model)
    return window && figuresOf(window, this.#limits, this.#clock.now())
  }

  #of(model: string): HealthWindow {
    return this.#windows.get(model) ?? NO_OBSERVATIONS
  }
}

/** Failures caused by the request or the account instead of the model. */
const NOT_OF_MODEL: ReadonlySet<string> = new Set(['RATE_LIMITED', 'INVALID_REQUEST', 'CONTEXT_OVERFLOW', 'ABORTED'])

export const endOfFailure = (code: string): CallEnd =>
  code === 'TIMEOUT' ? 'timeout' : NOT_OF_MODEL.has(code) ? 'none' : 'error'
