import { signal } from '@preact/signals'
import { told } from '../client/api.ts'

const MOST = 300

/**
 * What the server tells of positions, by revision: it is asked once for each, and this page keeps what it was told. One question at a
 * time; the last one wins.
 */
export class PositionCache<T> {
  readonly #tell: (revision: number) => Promise<T>
  readonly #known = new Map<number, T>()
  #asking = false
  #wanted: number | null = null
  #failed: number | null = null
  readonly fault = signal('')
  /** What was told last of a position that was asked for. */
  readonly current = signal<T | null>(null)

  constructor(tell: (revision: number) => Promise<T>) {
    this.#tell = tell
  }

  /** Shows a position as soon as it is known. */
  show(revision: number): void {
    this.#failed = null
    const known = this.#known.get(revision)
    if (known !== undefined) {
      this.#wanted = null
      this.current.value = known
      return
    }
    this.#wanted = revision
    if (!this.#asking) void this.#ask()
  }

  /** Asks once more for what could not be told. */
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
        if (this.#known.size > MOST) this.#known.delete(this.#known.keys().next().value as number)
        this.fault.value = ''
        // The position that was asked for meanwhile comes next; this one is nearer to it than the one on the page.
        this.current.value = found
      } catch (error) {
        this.#failed = revision
        this.fault.value = told(error)
      }
    }
    this.#asking = false
  }
}
