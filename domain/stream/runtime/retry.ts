import { LogError, noRoomIn } from '../../log/errors.ts'
import { TimeLimitError } from './errors.ts'
import type { StreamPorts } from './ports.ts'

/** How long an outcome is saved again where the host does not say otherwise, ms. */
const OUTCOME_LIMIT_MS = 5 * 60_000
/** How long a person waits for the log, ms. */
const REQUEST_LIMIT_MS = 15_000
/** The rest of either limit after a stop, in ms. */
export const STOP_LIMIT_MS = 5_000
/** One append: then the log is asked again, with the same bytes, ms. */
const ATTEMPT_LIMIT_MS = 20_000
/** The part of it in which the log asks its server again by itself: its last call ends, and says why, in the rest. */
const OF_THE_LOG = 0.75

/** Delays between attempts double from the first to the longest, ms. */
const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 10_000
/** The least time of the last attempt: the delay before it ends so long before the limit, ms. */
const LAST_ATTEMPT_MS = 1_000

/** The first warning, ms after the beginning. The time to the next one doubles, up to the longest, ms. */
export const FIRST_WARNING_MS = 3_000
const LONGEST_SILENCE_MS = 60_000

interface Options {
  readonly clock: StreamPorts['clock']
  readonly limitMs: number
  /** The content to be saved, as the object of a sentence. */
  readonly what: string
  /** Shortens the limit to {@link STOP_LIMIT_MS}. */
  readonly stop?: AbortSignal | undefined
  readonly warn?: (message: string) => void
}

/**
 * The retry policy of everything that is recorded: one limit for a whole outcome or request, growing delays, and warnings at
 * growing intervals. Whatever is done for it consults the same object, so no limit contains another one.
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
  /** Why nothing more is begun for it: the limit has passed. */
  #over: Error | null = null
  #attempt: { readonly until: number; readonly fail: (error: Error) => void } | null = null
  #timer: { readonly at: number; readonly off: AbortController } | null = null
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

  /** Throws where the limit has passed: the caller has been told so, and nothing is begun for it any more. */
  mustGoOn(): void {
    if (this.#now() >= this.#until) this.#giveUp()
    if (this.#over !== null) throw this.#over
  }

  /** The result of the work. Rejects as it does; at the limit with the last error, or with a {@link TimeLimitError}. */
  async once<T>(work: () => Promise<T>): Promise<T> {
    this.mustGoOn()
    const { stop } = this.#options
    const expired = new Promise<never>((_, reject) => {
      this.#fail = reject
    })
    const onStop = () => {
      this.#shorten()
      this.#look()
    }
    stop?.addEventListener('abort', onStop, { once: true })
    this.#look()
    try {
      const result = await Promise.race([work(), expired])
      if (this.#warned) this.#options.warn?.(`saved ${this.#options.what} after ${inWords(this.#now() - this.#began)}`)
      return result
    } finally {
      stop?.removeEventListener('abort', onStop)
      this.#setTimer(null)
    }
  }

  /** Like {@link once}, but does the work again where it failed for want of room, of an answer or of time. */
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
   * One append, which is told how long it may take (ms). Rejects as it does, or with LOG_UNAVAILABLE where it does not answer
   * in time. To be called within {@link once}.
   */
  async attempt<T>(append: (limitMs: number) => Promise<T>): Promise<T> {
    this.mustGoOn()
    const now = this.#now()
    const until = Math.min(now + ATTEMPT_LIMIT_MS, this.#until)
    const late = new Promise<never>((_, fail) => {
      this.#attempt = { until, fail }
    })
    if (this.#timer !== null && until < this.#timer.at) this.#look()
    try {
      return await Promise.race([append(Math.ceil((until - now) * OF_THE_LOG)), late])
    } finally {
      this.#attempt = null
    }
  }

  /** Waits before the next attempt. Throws the error where there is no time for one. */
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

  /** Does what is due, and sets the timer to what is due next. */
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
    this.#timer?.off.abort(ENDED)
    this.#timer = null
    if (at === null) return
    const off = new AbortController()
    this.#timer = { at, off }
    this.#options.clock.sleep(at - this.#now(), off.signal).then(
      () => this.#look(),
      () => undefined,
    )
  }
}

/** The policy for an outcome, which has happened and must not be lost. `what`: as the object of a sentence. */
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

/** Failures that pass by themselves: no room, no answer, no time. */
export const passes = (error: unknown): boolean =>
  noRoomIn(error) !== null || error instanceof TimeLimitError || isUnavailable(error)

/** Whether the error leaves open what became of an append. */
export const isUnavailable = (error: unknown): error is LogError =>
  error instanceof LogError && error.code === 'LOG_UNAVAILABLE'

const noAnswer = (ms: number): LogError =>
  new LogError('LOG_UNAVAILABLE', `the log did not answer within ${inWords(ms)}; see that its disk or its server works`)

const later = (instant: number | undefined, now: number): number =>
  instant !== undefined && instant > now ? instant : Number.POSITIVE_INFINITY

/** `4 min 55 s`. */
function inWords(ms: number): string {
  const s = Math.round(ms / 1000)
  const parts = [s >= 60 ? `${Math.floor(s / 60)} min` : '', s % 60 > 0 || s < 60 ? `${s % 60} s` : '']
  return parts.filter(Boolean).join(' ')
}

// One for all: an abort without a reason makes an error with a stack each time.
const ENDED = new Error('the wait has ended')
