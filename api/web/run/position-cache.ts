import { signal } from '@preact/signals'

const MOST = 300

/**
 * Server answers about positions, cached by revision. Sends one request at a time. Meanwhile, only the newest requested
 * position is kept; older ones are dropped.
 */
export class PositionCache<T> {
  readonly #tell: (revision: number) => Promise<T>
  readonly #errorText: (error: unknown) => string
  readonly #most: number
  readonly #known = new Map<number, T>()
  #asking = false
  #wanted: number | null = null
  /** The page shows the newest requested position. An older answer that arrives now must not replace it. */
  #isShown = false
  #failed: number | null = null
  readonly fault = signal('')
  /** The last answer to a request. */
  readonly current = signal<T | null>(null)

  /** `most`: the answers that are kept. */
  constructor(tell: (revision: number) => Promise<T>, errorText: (error: unknown) => string, most = MOST) {
    this.#tell = tell
    this.#errorText = errorText
    this.#most = most
  }

  /** Shows a position as soon as its answer is available. */
  show(revision: number): void {
    this.#failed = null
    const known = this.#known.get(revision)
    this.#isShown = known !== undefined
    if (known !== undefined) {
      this.#wanted = null
      this.current.value = known
      return
    }
    this.#wanted = revision
    if (!this.#asking) void this.#ask()
  }

  /** Retries the last failed request. */
  again(): void {
    if (this.#failed !== null) this.show(this.#failed)
  }

  async #ask(): Promise<void> {
    this.#asking = true
    while (this.#wanted !== null) {
      const revision: number = this.#wanted
      this.#wanted = null
      try {
        const found = await this.#tell(revision)
        this.#known.set(revision, found)
        if (this.#known.size > this.#most) this.#known.delete(this.#known.keys().next().value as number)
        this.fault.value = ''
        // Show this answer, although a newer position was requested since: it is closer to that position than the one
        // shown.
        if (!this.#isShown) this.current.value = found
      } catch (error) {
        this.#failed = revision
        this.fault.value = this.#errorText(error)
      }
    }
    this.#asking = false
  }
}
