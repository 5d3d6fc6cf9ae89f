import type { Kysely } from 'kysely'
import { Mutex } from '../../../domain/stream/runtime/concurrency.ts'
import { ProjectionError } from '../errors.ts'
import type { Database } from '../schema/database.ts'
import { type Connection, connectSqlite } from './database.ts'
import type { Answer, Home } from './home.ts'
import { migrate, SqliteStore } from './sqlite.ts'
import { progressOf, type Store } from './store.ts'

/** Tables in memory: SQLite databases without a file. They end with the process, and no other process sees them. */
export class MemoryHome implements Home {
  readonly #tables = new Map<string, { readonly connection: Connection; readonly store: Store }>()
  /** Reads and commits share a connection, so they wait for each other. */
  readonly #alone = new Mutex()
  #live: string | null = null
  #made = 0

  async live(): Promise<string | null> {
    return this.#live
  }

  async logId(): Promise<null> {
    return null
  }

  async open(name: string): Promise<Store> {
    return this.#of(name).store
  }

  async fresh(): Promise<{ name: string; store: Store }> {
    const name = String(++this.#made)
    const connection = connectSqlite(':memory:', 'write')
    await migrate(connection, 'the tables in memory')
    const store = new WaitingStore(connection, this.#alone)
    this.#tables.set(name, { connection, store })
    return { name, store }
  }

  /** Null: new tables take the place of the live ones without a comparison. */
  async compare(): Promise<null> {
    return null
  }

  async pointTo(name: string): Promise<boolean> {
    this.#live = name
    return true
  }

  async drop(name: string): Promise<void> {
    this.#tables.get(name)?.connection.close()
    this.#tables.delete(name)
  }

  async dropOthers(): Promise<void> {
    for (const name of this.#tables.keys()) if (name !== this.#live) await this.drop(name)
  }

  read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    return this.#alone.run(() => answer(this.#of(this.#live), query))
  }

  /** Reads a copy, so that `query` may wait for events that are still to be folded. */
  async readApart<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    const copy = connectSqlite(':memory:', 'write')
    try {
      await this.#alone.run(async () => copy.raw.deserialize(this.#of(this.#live).connection.raw.serialize()))
      return await answer({ connection: copy }, query)
    } finally {
      copy.close()
    }
  }

  async close(): Promise<void> {
    this.#live = null
    await this.dropOthers()
  }

  #of(name: string | null) {
    const tables = name === null ? undefined : this.#tables.get(name)
    if (tables === undefined)
      throw new ProjectionError('NOT_FOUND', 'the tables in memory are closed; open keepup again')
    return tables
  }
}

/** Commits wait for reads. The home closes the connection. */
class WaitingStore extends SqliteStore {
  readonly #alone: Mutex

  constructor(connection: Connection, alone: Mutex) {
    super(connection)
    this.#alone = alone
  }

  override commit(...batch: Parameters<SqliteStore['commit']>): Promise<void> {
    return this.#alone.run(() => super.commit(...batch))
  }

  override async close(): Promise<void> {}
}

/** One state of a connection. */
const answer = <T>(
  { connection }: { readonly connection: Connection },
  query: (db: Kysely<Database>) => Promise<T>,
): Promise<Answer<T>> =>
  connection.db.transaction().execute(async (db) => {
    const row = await db.selectFrom('position').selectAll().executeTakeFirst()
    return { position: row ? progressOf(row).cursor : null, data: await query(db) }
  })
