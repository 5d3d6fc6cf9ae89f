import { LogError } from '../../../domain/log/errors.ts'
import type { Clock, Leases } from '../../../domain/ports/index.ts'
import type { Lease } from '../../../domain/ports/runtime.ts'
import { withinOr } from '../../operations/concurrency/within-or.ts'

export interface LeaseOptions {
  readonly leases: Leases
  readonly clock: Clock
  /** How long a lease lasts without a heartbeat, in ms. The holder renews it three times in this period. */
  readonly ttlMs: number
}

/** The time limit for releasing a lease, in ms. An unreleased lease expires. */
const RELEASE_WITHIN_MS = 2_000

/**
 * Takes the lease `name` for `holder`. Null: another process has it. Rejects if that cannot be determined, with
 * `LOG_UNAVAILABLE` if no answer arrives within `ttlMs`.
 */
export async function takeLease(
  { leases, clock, ttlMs }: LeaseOptions,
  name: string,
  holder: string,
): Promise<Lease | null> {
  // Measure from before the call, because the server starts counting later. Use a clock that advances while the machine
  // sleeps.
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
      // Release after a pending renewal, which would take the lease again. The renewal has a time limit.
      const given = asked.then(() => leases.release(name, holder)).catch(() => undefined)
      await withinOr(clock, RELEASE_WITHIN_MS, given, undefined)
    },
  }
}
