import { LogError, noRoomIn } from '../../log/errors.ts'
import { TimeLimitError } from './errors.ts'
import type { StreamPorts } from './ports.ts'
import { alarm } from './time-limit.ts'

/** Default time limit for saving an outcome, ms. */
const OUTCOME_LIMIT_MS = 5 * 60_000
/** Default time limit for a person's request, ms. */
const REQUEST_LIMIT_MS = 15_000
/** Time that remains of either limit after a stop, ms. */
export const STOP_LIMIT_MS = 5_000
/** Time limit of one append, ms. Afterwards the same bytes are sent again. */
const ATTEMPT_LIMIT_MS = 20_000
/** The share of that time for the log's own retries. In the rest its last call ends and reports its error. */
const OF_THE_LOG = 0.75

/** Delays between attempts double from the first to the longest, ms. */
const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 10_000
/** Minimum time for the last attempt, ms. The delay before it ends this long before the limit. */
const LAST_ATTEMPT_MS = 1_000

/** Time until the first warning, ms. The time to the next warning doubles, up to {@link LONGEST_SILENCE_MS}. */
export const FIRST_WARNING_MS = 3_000
const LONGEST_SILENCE_MS = 60_000

interface Options {
  readonly clock: StreamPorts['clock']
  readonly limitMs: number
  /** The content to save, as the object of a sentence. */
  readonly what: string
  /** Its abort shortens the limit to {@link STOP_LIMIT_MS}. */
  readonly stop?: AbortSignal | undefined
  readonly warn?: (message: string) => void
}

/**
 * The retry policy of one outcome or request: one limit for all of its work, growing delays, and warnings at growing
 * intervals. All steps of the work share this object, so limits are never nested.
 */
export class Retry {
  readonly #options: Options
  readonly #began: number
  #until: number
  #delay = FIRST_DELAY_MS
  #warnAt: number
  #silence = FIRST_WARNING_MS
  #warned = false
  #lastError: Error | null = null
  /** The error of every further step, once the limit has passed. */
  #over: Error | null = null
  #attempt: { readonly until: number; readonly fail: (error: Error) => void } | null = null
  #timer: { readonly at: number; callOff(): void } | null = null
  #fail: (error: Error) => void = () => undefined

  constructor(options: Options) {
    this.#options = options
    this.#began = options.clock.now()
    this.#warnAt = this.#began + FIRST_WARNING_MS
    this.#until = this.#began + Math.max(options.limitMs, LAST_ATTEMPT_MS)
    if (this.stopped) this.#shorten()
  }

  get stopped(): boolean {
    return this.#options.stop?.aborted === true
  }

  /** Throws when the limit has passed. The caller already has the error, so no further step may start. */
  mustGoOn(): void {
    if (this.#now() >= this.#until) this.#giveUp()
    if (this.#over !== null) throw this.#over
  }

  /** Runs the work. Rejects with its error; at the limit with the last error, or a {@link TimeLimitError}. */
  async once<T>(work: () => Promise<T>): Promise<T> {
    this.mustGoOn()
    const { stop } = this.#options
    const onStop = () => {
      this.#shorten()
      this.#look()
    }
    stop?.addEventListener('abort', onStop, { once: true })
    try {
      const result = await new Promise<T>((resolve, reject) => {
        this.#fail = reject
        this.#look()
        work().then(resolve, reject)
      })
      if (this.#warned) this.#options.warn?.(`saved ${this.#options.what} after ${inWords(this.#now() - this.#began)}`)
      return result
    } finally {
      stop?.removeEventListener('abort', onStop)
      this.#setTimer(null)
    }
  }

  /** Like {@link once}, but repeats the work after a full disk, a missing answer or a time limit. */
  repeat<T>(work: () => Promise<T>): Promise<T> {
    return this.once(async () => {
      for (;;) {
        try {
          return await work()
        } catch (error) {
          if (!passes(error)) throw error
          await this.pause(error)
        }
      }
    })
  }

  /**
   * Runs one append and passes it its time limit, ms. Call it within {@link once}. Rejects with the append's error, or
   * with LOG_UNAVAILABLE when the append does not answer in time.
   */
  async attempt<T>(append: (limitMs: number) => Promise<T>): Promise<T> {
    this.mustGoOn()
    const now = this.#now()
    const until = Math.min(now + ATTEMPT_LIMIT_MS, this.#until)
    try {
      return await new Promise<T>((resolve, fail) => {
        this.#attempt = { until, fail }
        if (this.#timer !== null && until < this.#timer.at) this.#look()
        append(Math.ceil((until - now) * OF_THE_LOG)).then(resolve, fail)
      })
    } finally {
      this.#attempt = null
    }
  }

  /** Waits before the next attempt. Throws the error when no time for another attempt is left. */
  async pause(error: unknown): Promise<void> {
    this.#lastError = error as Error
    const { clock, stop } = this.#options
    const left = this.#until - this.#now() - LAST_ATTEMPT_MS
    if (this.#over !== null || left <= 0) throw error
    const delay = Math.min(this.#delay, left)
    this.#delay = Math.min(this.#delay * 2, LONGEST_DELAY_MS)
    await clock.sleep(delay, this.stopped ? undefined : stop).catch(() => undefined)
  }

  #now(): number {
    return this.#options.clock.now()
  }

  #shorten(): void {
    this.#until = Math.min(this.#until, this.#now() + STOP_LIMIT_MS)
    this.#warnAt = Number.POSITIVE_INFINITY
  }

  /** Handles the limits and warnings that are due, and sets the timer to the next one. */
  #look(): void {
    const now = this.#now()
    if (now >= this.#until) return this.#giveUp()
    if (this.#attempt !== null && now >= this.#attempt.until) this.#attempt.fail(noAnswer(ATTEMPT_LIMIT_MS))
    if (now >= this.#warnAt) this.#warnNow(now)
    this.#setTimer(Math.min(this.#until, this.#warnAt, later(this.#attempt?.until, now)))
  }

  #giveUp(): void {
    const { what, limitMs } = this.#options
    const unanswered = this.#attempt && noAnswer(this.#now() - this.#began)
    this.#over ??= unanswered ?? this.#lastError ?? new TimeLimitError(`recording ${what}`, limitMs)
    this.#attempt?.fail(this.#over)
    this.#fail(this.#over)
  }

  #warnNow(now: number): void {
    const { what, warn } = this.#options
    const why = this.#lastError?.message ?? 'there is no answer yet'
    if (warn === undefined) this.#warnAt = Number.POSITIVE_INFINITY
    else {
      this.#warned = true
      this.#silence = Math.min(this.#silence * 2, LONGEST_SILENCE_MS)
      this.#warnAt = now + this.#silence
      warn(`could not save ${what}; retrying for ${inWords(this.#until - now)}: ${why}`)
    }
  }

  #setTimer(at: number | null): void {
    this.#timer?.callOff()
    this.#timer = at === null ? null : { at, callOff: alarm(this.#options.clock, at - this.#now(), () => this.#look()) }
  }
}

/** The policy for an outcome, which has happened and must not be lost. `what`: the object of a sentence. */
export function outcomeRetry(
  ports: Pick<StreamPorts, 'clock' | 'outcomeLimitMs' | 'warn'>,
  id: string,
  what: string,
  stop?: AbortSignal,
): Retry {
  const { clock, outcomeLimitMs: limitMs = OUTCOME_LIMIT_MS } = ports
  return new Retry({ clock, limitMs, what, stop, warn: (message) => ports.warn?.(id, message) })
}

/** The policy for a person's request: a short limit and no warnings, because the error is the answer. */
export function requestRetry({ clock, requestLimitMs }: Pick<StreamPorts, 'clock' | 'requestLimitMs'>): Retry {
  return new Retry({ clock, limitMs: requestLimitMs ?? REQUEST_LIMIT_MS, what: 'the request' })
}

/** Whether an error can pass by itself: a full disk, no answer, or a time limit. */
export const passes = (error: unknown): boolean =>
  noRoomIn(error) !== null || error instanceof TimeLimitError || isUnavailable(error)

/** Whether the error leaves the outcome of an append unknown. */
export const isUnavailable = (error: unknown): error is LogError =>
  error instanceof LogError && error.code === 'LOG_UNAVAILABLE'

const noAnswer = (ms: number): LogError =>
  new LogError('LOG_UNAVAILABLE', `the log did not answer within ${inWords(ms)}; see that its disk or its server works`)

const later = (instant: number | undefined, now: number): number =>
  instant !== undefined && instant > now ? instant : Number.POSITIVE_INFINITY

/** For example `4 min 55 s`. */
function inWords(ms: number): string {
  const s = Math.round(ms / 1000)
  const parts = [s >= 60 ? `${Math.floor(s / 60)} min` : '', s % 60 > 0 || s < 60 ? `${s % 60} s` : '']
  return parts.filter(Boolean).join(' ')
}
