import type { Kysely, Transaction } from 'kysely'
import type { EventView } from '../../operations/events/schemas.ts'
import { movePosition, readPosition } from './position-in.ts'

/** Handles events in order, and writes their rows with `tx`. */
export type RowHandler<DB> = (events: readonly EventView[], tx: Transaction<DB>) => unknown

/** Writes rows of events and their position in one transaction. */
export class RowSink<DB> {
  readonly #db: Kysely<DB>
  readonly #name: string
  readonly #handler: RowHandler<DB>
  #position: string | null

  private constructor(db: Kysely<DB>, name: string, handler: RowHandler<DB>, position: string | null) {
    this.#db = db
    this.#name = name
    this.#handler = handler
    this.#position = position
  }

  static async open<DB>(db: Kysely<DB>, name: string, handler: RowHandler<DB>): Promise<RowSink<DB>> {
    return new RowSink(db, name, handler, await readPosition(db, name))
  }

  /** The stored position. Null: none. */
  get position(): string | null {
    return this.#position
  }

  async take(events: readonly EventView[], end: string): Promise<void> {
    if (end === this.#position) return
    await this.#db.transaction().execute(async (tx) => {
      if (events.length > 0) await this.#handler(events, tx)
      await movePosition(tx, this.#name, { from: this.#position, to: end })
    })
    this.#position = end
  }
}
