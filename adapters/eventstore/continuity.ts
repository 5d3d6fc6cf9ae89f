import { shortened } from '../../domain/log/errors.ts'
import type { Cursors } from './cursor.ts'
import type { Known } from './seen-events.ts'

interface Parts {
  readonly cursors: Cursors
  readonly known: Known
  /** The owner's own check of the log. Rejects if the log must not be appended to. */
  readonly onDoubt?: (() => Promise<void>) | undefined
}

// Never aborts: `close` waits for the answers of appends that have begun.
const NEVER = new AbortController().signal

/**
 * Prevents appends to an older state of the log. A server can be restored only while no connection is open, so each new
 * stream of appends is checked once, before its first append.
 */
export class Continuity {
  readonly #parts: Parts
  #checked: object | null = null
  #checking: { readonly stream: object; readonly done: Promise<void> } | null = null

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Resolves if appends may use `stream`. Rejects with `LOG_SHORTENED`, or with the error that prevents the check. */
  async mustHold(stream: object): Promise<void> {
    if (stream === this.#checked) return
    if (this.#checking?.stream !== stream) this.#checking = { stream, done: this.#check(stream) }
    const { done } = this.#checking
    await done.finally(() => {
      if (this.#checking?.done === done) this.#checking = null
    })
  }

  async #check(stream: object): Promise<void> {
    const { cursors, known, onDoubt } = this.#parts
    await cursors.checkKnown(NEVER)
    await onDoubt?.()
    if (known.lost !== null)
      throw shortened(`the log has lost its end: this process has seen position ${known.lost.position} of it`)
    this.#checked = stream
  }
}
