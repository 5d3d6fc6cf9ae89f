import type { Clock } from '../../ports/index.ts'
import { TimeLimitError } from './errors.ts'

/** The end of an attempt: a value, a thrown error, or still running after its limit and the grace after the abort. */
export type Attempt<T> =
  | { readonly end: 'value'; readonly value: T; readonly durationMs: number }
  | { readonly end: 'error'; readonly error: unknown; readonly timedOut: boolean; readonly durationMs: number }
  | { readonly end: 'hung'; readonly durationMs: number }

/** The time that aborted work has to end, ms. */
export const ABORT_GRACE_MS = 5_000

/**
 * Runs one attempt under a time limit. At the limit, or when `signal` aborts, the attempt's own signal aborts. Work
 * that is still running {@link ABORT_GRACE_MS} later is reported as hung, and its late result is ignored.
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

/** Rejects with a {@link TimeLimitError} after `limitMs`. `what`: the work, as the subject of a sentence. */
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

/** Calls `ring` after `ms`. The returned function cancels the call. */
export function alarm(clock: Clock, ms: number, ring: () => void): () => void {
  if (clock.alarm !== undefined) return clock.alarm(ms, ring)
  const off = new AbortController()
  clock.sleep(ms, off.signal).then(ring, () => undefined)
  return () => off.abort(ENDED)
}

/** Rejects with a {@link TimeLimitError} if `work` still runs `limitMs` after `signal` has aborted. */
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

// One shared error: an abort without a reason creates an error with a stack each time.
const ENDED = new Error('the attempt has ended')
