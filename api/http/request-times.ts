import type { MiddlewareHandler } from 'hono'
import { Histogram, histogram, type Metric } from '../operations/metrics/metric.ts'
import type { FindRoute } from './declared-guard.ts'

/** The bounds of the times of requests, in seconds. */
const BOUNDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10]

/** Counts requests to this process by route and status. An event stream counts until its first bytes. */
export class RequestTimes {
  readonly #series = new Map<string, { readonly route: string; readonly status: string; readonly times: Histogram }>()

  measured(find: FindRoute): MiddlewareHandler {
    return async (c, next) => {
      const began = performance.now()
      await next()
      // Other paths are texts of strangers.
      const known = find(c)
      const route = known?.operation ?? 'other'
      const status = `${c.res.status}`
      const key = `${status} ${route}`
      const series = this.#series.get(key) ?? { route, status, times: new Histogram(BOUNDS) }
      this.#series.set(key, series)
      series.times.add((performance.now() - began) / 1_000)
    }
  }

  get metric(): Metric {
    const samples = [...this.#series.values()].map(
      ({ route, status, times }) => [{ route, status }, times.observed] as const,
    )
    return histogram('http_request_seconds', 'Requests to this process.', BOUNDS, samples)
  }
}
