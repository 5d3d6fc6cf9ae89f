import type { Clock } from '../../ports/index.ts'
import { TimeLimitError } from './errors.ts'

/** How an attempt ended: with a value, a thrown error, or not within its limit and the grace after the abort. */
export type Attempt<T> =
  | { readonly end: 'value'; readonly value: T; readonly durationMs: number }
  | { readonly end: 'error'; readonly error: unknown; readonly timedOut: boolean; readonly durationMs: number }
  | { readonly end: 'hung'; readonly durationMs: number }

/** Work that does not answer an abort within this time is given up, ms. */
export const ABORT_GRACE_MS = 5_000

/**
 * Runs one attempt under a time limit: at the limit, or when `signal` aborts, its own signal aborts; what has not ended
 * a grace later is reported as hung, and its later end is ignored.
 */
export function limited<T>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Attempt<T>> {
  const started = clock.now()
  const own = new AbortController()
  const durationMs = () => Math.max(0, Math.round(clock.now() - started))
  return new Promise((resolve) => {
    let timedOut = false
    let callOff = () => {}
    const end = (reason: unknown) => {
      if (own.signal.aborted) return
      callOff()
      own.abort(reason)
      callOff = alarm(clock, ABORT_GRACE_MS, () => settle({ end: 'hung', durationMs: durationMs() }))
    }
    const onAbort = () => end(signal.reason)
    const settle = (attempt: Attempt<T>) => {
      callOff()
      signal.removeEventListener('abort', onAbort)
      resolve(attempt)
    }
    if (signal.aborted) onAbort()
    else {
      signal.addEventListener('abort', onAbort, { once: true })
      callOff = alarm(clock, limitMs, () => {
        timedOut = true
        end(new Error(`no end within ${limitMs} ms`))
      })
    }
    const attempt = async () => work(own.signal)
    attempt().then(
      (value) => settle({ end: 'value', value, durationMs: durationMs() }),
      (error: unknown) => settle({ end: 'error', error, timedOut, durationMs: durationMs() }),
    )
  })
}

/** The result of `work`, or a {@link TimeLimitError} after `limitMs`. `what` names it, as the subject of a sentence. */
export function within<T>(clock: Clock, limitMs: number, what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = alarm(clock, limitMs, () => reject(new TimeLimitError(what, limitMs)))
    work.then(
      (value) => {
        callOff()
        resolve(value)
      },
      (error: unknown) => {
        callOff()
        reject(error)
      },
    )
  })
}

/** Calls `ring` after `ms`, unless the returned function is called before. */
function alarm(clock: Clock, ms: number, ring: () => void): () => void {
  if (clock.alarm !== undefined) return clock.alarm(ms, ring)
  const off = new AbortController()
  clock.sleep(ms, off.signal).then(ring, () => undefined)
  return () => off.abort(ENDED)
}

/** The result of `work`, or a {@link TimeLimitError} where it has not ended `limitMs` after `signal` has aborted. */
export async function endingWith<T>(
  clock: Clock,
  limitMs: number,
  what: string,
  signal: AbortSignal,
  work: Promise<T>,
): Promise<T> {
  const done = new AbortController()
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true, signal: done.signal })
  })
  const ended = work.then(
    () => undefined,
    () => undefined,
  )
  try {
    await Promise.race([aborted, ended])
    return await (signal.aborted ? within(clock, limitMs, what, work) : work)
  } finally {
    done.abort(ENDED)
  }
}

// One for all: an abort without a reason makes an error with a stack each time.
const ENDED = new Error('the attempt has ended')
