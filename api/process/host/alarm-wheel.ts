/** A wait is looked at again after this, ms: timers stand still while the machine sleeps. */
export const LONGEST_MS = 60_000

/** A look that is so much too late, ms, finds a process that was stopped or held up. */
const LATE_MS = 1_000

interface Alarm {
  readonly at: number
  /** By the monotonic clock: the work that is waited for has had this time, also where the wall clock has leapt. */
  readonly notBefore: number
  readonly ring: () => void
}

/**
 * Alarms over one timer. Nearly every alarm is called off, and costs no timer of its own: one that was called off is found
 * missing when the timer looks for it. The process stays alive while an alarm is set, as it does for a timer.
 */
export class AlarmWheel {
  readonly #now: () => number
  readonly #monotonic: () => number
  readonly #set = new Set<Alarm>()
  #timer: NodeJS.Timeout | null = null
  /** The instant at which the timer looks, by the monotonic clock as timers go, ms. */
  #looksAt = Number.POSITIVE_INFINITY

  constructor(now: () => number, monotonic: () => number) {
    this.#now = now
    this.#monotonic = monotonic
  }

  /** Rings once `ms` have passed, unless the returned function is called before. */
  alarm(ms: number, ring: () => void): () => void {
    const notBefore = this.#monotonic() + Math.min(ms, LONGEST_MS)
    const one = { at: this.#now() + ms, notBefore, ring }
    if (this.#set.size === 0) this.#timer?.ref()
    this.#set.add(one)
    if (notBefore < this.#looksAt) this.#lookAt(notBefore)
    return () => {
      if (this.#set.delete(one) && this.#set.size === 0) this.#timer?.unref()
    }
  }

  #lookAt(at: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#looksAt = at
    this.#timer = setTimeout(() => this.#look(), Math.max(0, at - this.#monotonic()))
  }

  /** Answers that came while the process stood still are heard first: they call their alarms off. */
  #look(): void {
    this.#timer = null
    if (this.#monotonic() - this.#looksAt > LATE_MS) setImmediate(() => this.#ring())
    else this.#ring()
  }

  #ring(): void {
    this.#looksAt = Number.POSITIVE_INFINITY
    const [now, passed] = [this.#now(), this.#monotonic()]
    const due = [...this.#set].filter((one) => one.at <= now && one.notBefore <= passed).sort((a, b) => a.at - b.at)
    try {
      for (const one of due) if (this.#set.delete(one)) one.ring()
    } finally {
      let next = Number.POSITIVE_INFINITY
      for (const { at, notBefore } of this.#set)
        next = Math.min(next, Math.max(notBefore, passed + Math.min(at - now, LONGEST_MS)))
      if (next < this.#looksAt) this.#lookAt(next)
    }
  }
}
