import { withinOr } from '../../operations/concurrency/within-or.ts'
import { type LeaseOptions, takeLease } from './lease.ts'

/** The name of the lease for the deliveries. No agent can have this name. */
const WEBHOOKS = '.webhooks'
/** The time limit for the end of the deliveries, in ms. */
const CLOSE_WITHIN_MS = 5_000

/** Webhooks, or spans for a collector. */
interface Delivering {
  start(signal: AbortSignal): void
  settle(): Promise<void>
  ended(): Promise<void>
}

interface Shared extends LeaseOptions {
  readonly deliveries: readonly Delivering[]
  readonly holder: string
}

/** The process with the lease delivers. The lease spares work; the epochs of the positions refuse an older process. */
export function deliverOnServers({ deliveries, holder, ...lease }: Shared): { close(): Promise<void> } {
  const end = new AbortController()
  const { clock, ttlMs } = lease
  const serve = async () => {
    while (!end.signal.aborted) {
      // Other parts report servers that do not answer.
      const held = await takeLease(lease, WEBHOOKS, holder).catch(() => null)
      if (held !== null) {
        const over = AbortSignal.any([end.signal, held.lost])
        for (const one of deliveries) one.start(over)
        await new Promise<void>((resolve) => {
          if (over.aborted) resolve()
          else over.addEventListener('abort', () => resolve(), { once: true })
        })
        await Promise.all(deliveries.map((one) => one.ended()))
        await held.release()
      }
      await clock.sleep(ttlMs / 2, end.signal).catch(() => undefined)
    }
  }
  const serving = serve()
  return {
    async close() {
      await Promise.all(deliveries.map((one) => one.settle()))
      end.abort(new Error('the deliveries were ended'))
      await withinOr(clock, CLOSE_WITHIN_MS, serving, undefined)
    },
  }
}
