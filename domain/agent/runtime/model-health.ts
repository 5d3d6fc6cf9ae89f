import type { Clock } from '../../ports/index.ts'
import { type HealthFigures, HealthThresholds } from '../routing/decision.ts'
import { begun, ended, figuresOf, type HealthWindow, NO_CALLS, type Observation } from '../routing/health.ts'

/** How a call ended, for its model's health; `none`: its end says nothing of the model. */
export type CallEnd = Observation['end'] | 'none'

/**
 * The rolling health of the models that this process calls. Each process has its own figures: what keeps a model from
 * answering is often the host's own network, a decision needs no round trip, and a few calls are enough to learn. A decision
 * records the figures that it used, so that the log explains it without them.
 */
export class ModelHealth {
  readonly #clock: Pick<Clock, 'now'>
  readonly #limits: HealthThresholds
  readonly #windows = new Map<string, HealthWindow>()

  constructor(clock: Pick<Clock, 'now'>, limits: HealthThresholds = HealthThresholds.parse({})) {
    this.#clock = clock
    this.#limits = limits
  }

  /** A call of the model begins. The result is called once, at its end; more calls of it do nothing. */
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

  /** The figures now; undefined: no call of it was seen. */
  figures(model: string): HealthFigures | undefined {
    const window = this.#windows.get(model)
    return window && figuresOf(window, this.#limits, this.#clock.now())
  }

  #of(model: string): HealthWindow {
    return this.#windows.get(model) ?? NO_CALLS
  }
}

/** Failures that are the request's or the account's, and no matter of the model's health. */
const NOT_OF_MODEL: ReadonlySet<string> = new Set(['RATE_LIMITED', 'INVALID_REQUEST', 'CONTEXT_OVERFLOW', 'ABORTED'])

/** The meaning of a failure's code for the model's health. */
export const endOfFailure = (code: string): CallEnd =>
  code === 'TIMEOUT' ? 'timeout' : NOT_OF_MODEL.has(code) ? 'none' : 'error'
