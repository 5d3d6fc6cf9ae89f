import { LogError } from '../../../domain/log/errors.ts'
import type { Clock, Leases } from '../../../domain/ports/index.ts'
import type { Lease } from '../../../domain/ports/runtime.ts'
import { withinOr } from '../../operations/concurrency/within-or.ts'

export interface LeaseOptions {
  readonly leases: Leases
  readonly clock: Clock
  /** How long it holds without a sign of life, ms; one is given three times in that time. */
  readonly ttlMs: number
}

/** How long giving it back may take, ms: it ends by itself. */
const RELEASE_WITHIN_MS = 2_000

/**
 * Takes the lease of `name` for `holder`; null where another process holds it. Rejects where that cannot be learnt, with
 * `LOG_UNAVAILABLE` where there is no answer while it would last.
 */
export async function takeLease(
  { leases, clock, ttlMs }: LeaseOptions,
  name: string,
  holder: string,
): Promise<Lease | null> {
  // Counted from before the call: the server begins to count after it. By a clock that goes on while the machine sleeps.
  let until = clock.now() + ttlMs
  const left = () => Math.max(0, until - clock.now())
  let asked: Promise<boolean | null> = leases.acquire(name, holder, ttlMs)
  let taken: boolean | null = null
  while (taken === null && left() > 0) taken = await withinOr(clock, left(), asked, null)
  if (taken === null) {
    throw new LogError(
      'LOG_UNAVAILABLE',
      `whether ${name} is driven was not told within ${ttlMs} ms; see that PostgreSQL runs`,
    )
  }
  if (!taken) return null
  const lost = new AbortController()
  const over = new AbortController()
  const lose = (why: string) => lost.abort(new Error(`the lease of ${name} is lost: ${why}`))

  const beat = async () => {
    while (!over.signal.aborted && !lost.signal.aborted) {
      const renewed = clock.now() + ttlMs
      asked = leases.acquire(name, holder, ttlMs).catch(() => null)
      const held = await withinOr(clock, left(), asked, null, over.signal)
      if (held === false) lose('another process holds it')
      if (held === true) until = renewed
      else if (left() === 0) lose('it could not be renewed')
      await clock.sleep(Math.min(ttlMs / 3, left()), over.signal).catch(() => undefined)
    }
  }
  clock.sleep(Math.min(ttlMs / 3, left()), over.signal).then(beat, () => undefined)
  return {
    lost: lost.signal,
    async release() {
      over.abort(new Error('given back'))
      // After a renewal that is still under way, which would take it again: that one has an end of its own.
      const given = asked.then(() => leases.release(name, holder)).catch(() => undefined)
      await withinOr(clock, RELEASE_WITHIN_MS, given, undefined)
    },
  }
}
