/**
 * Combines many requests for the same work. The work runs after a pause, never twice at the same time, and once more
 * after the last request. Continuous requests do not delay it further.
 */
export class Throttle {
  readonly #work: () => unknown
  readonly #pause: number
  #timer: ReturnType<typeof setTimeout> | null = null
  #works = false
  #again = false
  #over = false

  /** `pause`: from a request to the work, in ms. `work` must handle its own errors. */
  constructor(work: () => unknown, pause: number) {
    this.#work = work
    this.#pause = pause
  }

  request(): void {
    if (this.#over || this.#timer !== null) return
    if (this.#works) this.#again = true
    else this.#timer = setTimeout(() => void this.#do(), this.#pause)
  }

  /** Drops requested work that has not started. */
  stop(): void {
    this.#over = true
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  async #do(): Promise<void> {
    this.#timer = null
    this.#works = true
    this.#again = false
    try {
      await this.#work()
    } finally {
      this.#works = false
    }
    if (this.#again) this.request()
  }
}
