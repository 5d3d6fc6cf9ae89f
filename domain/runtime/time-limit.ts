import type { Clock } from '../ports.ts'
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
export async function limited<T>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Attempt<T>> {
  const started = clock.now()
  const own = new AbortController()
  const limit = new AbortController()
  const done = new AbortController()
  let timedOut = false
  const end = (reason: unknown) => {
    own.abort(reason)
    limit.abort(reason)
  }
  const onAbort = () => end(signal.reason)
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  const durationMs = () => Math.max(0, Math.round(clock.now() - started))
  const attempt = (async (): Promise<Attempt<T>> => {
    try {
      return { end: 'value', value: await work(own.signal), durationMs: durationMs() }
    } catch (error) {
      return { end: 'error', error, timedOut, durationMs: durationMs() }
    }
  })()
  const hung = (async (): Promise<Attempt<T>> => {
    await clock.sleep(limitMs, limit.signal).then(
      () => {
        timedOut = true
        end(new Error(`no end within ${limitMs} ms`))
      },
      () => undefined,
    )
    await clock.sleep(ABORT_GRACE_MS, done.signal)
    return { end: 'hung', durationMs: durationMs() }
  })()
  hung.catch(() => undefined)
  try {
    return await Promise.race([attempt, hung])
  } finally {
    done.abort(ENDED)
    limit.abort(ENDED)
    signal.removeEventListener('abort', onAbort)
  }
}

/** The result of `work`, or a {@link TimeLimitError} after `limitMs`. `what` names it, as the subject of a sentence. */
export async function within<T>(clock: Clock, limitMs: number, what: string, work: Promise<T>): Promise<T> {
  const done = new AbortController()
  const late = clock.sleep(limitMs, done.signal).then((): never => {
    throw new TimeLimitError(what, limitMs)
  })
  late.catch(() => undefined)
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    done.abort(ENDED)
  }
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
