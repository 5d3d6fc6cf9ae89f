import type { CausedContext } from '../../stream/emitter.ts'
import type { MailboxMemory } from '../../stream/runtime/mailbox-memory.ts'
import { type DocumentEvent, isUpdate, updateBytes } from '../stream/events.ts'

/** The updates in the log since the last `take`, for import into a replica. */
export class Arrivals implements MailboxMemory<DocumentEvent, CausedContext> {
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

  /** Drops the updates: when the mailbox reloads, the replica is reopened from the log too. */
  fresh(): this {
    this.#updates = []
    return this
  }
}
