import type { Memory } from '../../stream/runtime/memory.ts'
import type { DocumentContext } from '../stream/decide.ts'
import { type DocumentEvent, isUpdate, updateBytes } from '../stream/events.ts'

/** The news of the log since they were last taken: the updates that a replica has still to import. */
export class Arrivals implements Memory<DocumentEvent, DocumentContext> {
  readonly bytes = 0
  readonly #listen: (event: DocumentEvent) => void
  #updates: Uint8Array[] = []

  constructor(listen: (event: DocumentEvent) => void) {
    this.#listen = listen
  }

  push(event: DocumentEvent): void {
    if (isUpdate(event)) this.#updates.push(updateBytes(event))
    this.#listen(event)
  }

  take(): readonly Uint8Array[] {
    const taken = this.#updates
    this.#updates = []
    return taken
  }

  settle(): void {}

  context() {
    return {}
  }

  /** The mailbox reads from the beginning: the replica is then opened from the log too. */
  fresh(): this {
    this.#updates = []
    return this
  }
}
