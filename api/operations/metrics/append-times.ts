import type { EventLog } from '../../../domain/ports/index.ts'
import { replaced } from '../../../domain/stream/runtime/replace-member.ts'
import { Histogram, histogram, type Metric } from './metric.ts'

/** The bounds of the times of appends, in seconds. */
const BOUNDS = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10]

/** The times of the appends of this process to the log, until they are durable or refused. */
export class AppendTimes {
  readonly #times = new Histogram(BOUNDS)

  /** The log, with its appends measured. */
  measured(log: EventLog): EventLog {
    return replaced(log, 'append', (...asked) => {
      const began = performance.now()
      return log.append(...asked).finally(() => this.#times.add((performance.now() - began) / 1_000))
    })
  }

  get metric(): Metric {
    return histogram('append_seconds', 'Appends of this process to the log.', BOUNDS, [[{}, this.#times.observed]])
  }
}
