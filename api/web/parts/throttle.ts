/**
 * Work that many changes ask for: done once for all changes of a while, never twice at once, and once more after the last
 * change. A stream of changes without a rest does not put it off.
 */
export class Throttle {
  readonly #work: () => unknown
  readonly #pause: number
  #timer: ReturnType<typeof setTimeout> | null = null
  #works = false
  #again = false
  #over = false

  /** `pause`: ms from a change to the work. What fails tells of it itself: the work does not reject. */
  constructor(work: () => unknown, pause: number) {
    this.#work = work
    this.#pause = pause
  }

  request(): void {
    if (this.#over || this.#timer !== null) return
    if (this.#works) this.#again = true
    else this.#timer = setTimeout(() => void this.#do(), this.#pause)
  }

  /** Work that was asked for and has not begun is left. */
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
