/** The longest timer, in ms. Timers stop while the machine sleeps, so a long wait is checked repeatedly. */
export const LONGEST_MS = 60_000

/** A timer that fires this much too late, in ms, shows that the process was stopped or blocked. */
const LATE_MS = 1_000

interface Alarm {
  readonly at: number
  /** By the monotonic clock. Ensures that the awaited work had its full time even if the wall clock jumps. */
  readonly notBefore: number
  readonly ring: () => void
}

/**
 * Many alarms on a single timer. Most alarms are cancelled before they ring, and a cancelled alarm costs no timer. The
 * process stays alive while an alarm is set, as with a timer.
 */
export class AlarmWheel {
  readonly #now: () => number
  readonly #monotonic: () => number
  readonly #set = new Set<Alarm>()
  #timer: NodeJS.Timeout | null = null
  /** When the timer fires, by the monotonic clock, in ms. */
  #looksAt = Number.POSITIVE_INFINITY

  constructor(now: () => number, monotonic: () => number) {
    this.#now = now
    this.#monotonic = monotonic
  }

  /** Rings after `ms`. Returns a function that cancels the alarm. */
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

  /** After a stop of the process, handle answers that have arrived first, because they cancel their alarms. */
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
