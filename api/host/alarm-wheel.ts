/** A wait is looked at again after this, ms: timers stand still while the machine sleeps. */
export const LONGEST_MS = 60_000

interface Alarm {
  readonly at: number
  readonly ring: () => void
}

/**
 * Alarms over one timer. Nearly every alarm is called off, and costs no timer of its own: one that was called off is found
 * missing when the timer looks for it. The process stays alive while an alarm is set, as it does for a timer.
 */
export class AlarmWheel {
  readonly #now: () => number
  readonly #set = new Set<Alarm>()
  #timer: NodeJS.Timeout | null = null
  /** The instant at which the timer looks, ms. */
  #looksAt = Number.POSITIVE_INFINITY

  constructor(now: () => number) {
    this.#now = now
  }

  /** Rings once `ms` have passed, unless the returned function is called before. */
  alarm(ms: number, ring: () => void): () => void {
    const one = { at: this.#now() + ms, ring }
    if (this.#set.size === 0) this.#timer?.ref()
    this.#set.add(one)
    if (one.at < this.#looksAt) this.#lookAt(one.at)
    return () => {
      if (this.#set.delete(one) && this.#set.size === 0) this.#timer?.unref()
    }
  }

  #lookAt(at: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    const now = this.#now()
    this.#looksAt = Math.min(at, now + LONGEST_MS)
    this.#timer = setTimeout(() => this.#look(), Math.max(0, this.#looksAt - now))
  }

  #look(): void {
    this.#timer = null
    this.#looksAt = Number.POSITIVE_INFINITY
    const now = this.#now()
    const due = [...this.#set].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at)
    for (const one of due) if (this.#set.delete(one)) one.ring()
    let next = Number.POSITIVE_INFINITY
    for (const { at } of this.#set) next = Math.min(next, at)
    if (next < this.#looksAt) this.#lookAt(next)
  }
}
