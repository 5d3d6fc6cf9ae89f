import type { Kysely } from 'kysely'
import { Mutex } from '../../../domain/stream/runtime/concurrency.ts'
import { ProjectionError } from '../errors.ts'
import type { Database } from '../schema/database.ts'
import { ownTables } from '../schema/own-tables.ts'
import { tableNames } from '../schema/tables.ts'
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

  drop(name: string): Promise<void> {
    return this.#alone.run(async () => this.#drop(name))
  }

  dropOthers(): Promise<void> {
    return this.#alone.run(async () => {
      for (const name of this.#tables.keys()) if (name !== this.#live) this.#drop(name)
    })
  }

  read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    return this.#alone.run(() => answer(this.#of(this.#live), query))
  }

  /** Reads a copy, so that `query` may wait for events that are still to be folded. */
  async readApart<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    const copy = connectSqlite(':memory:', 'write')
    try {
      await migrate(copy, 'a copy of the tables in memory')
      await this.#alone.run(async () => copyRows(this.#of(this.#live).connection, copy))
      return await answer({ connection: copy }, query)
    } finally {
      copy.close()
    }
  }

  async close(): Promise<void> {
    this.#live = null
    await this.dropOthers()
  }

  #drop(name: string): void {
    this.#tables.get(name)?.connection.close()
    this.#tables.delete(name)
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

/** Copies all rows into migrated, empty tables. Not by `DatabaseSync.serialize`, which Node has since 26.1 only. */
function copyRows(from: Connection, to: Connection): void {
  to.raw.exec('begin')
  // Triggers write the full-text index.
  for (const name of [...tableNames(), ...Object.keys(ownTables)]) {
    const rows = from.raw.prepare(`select * from "${name}"`)
    const places = rows.columns().map(() => '?')
    const insert = to.raw.prepare(`insert into "${name}" values (${places.join(', ')})`)
    for (const row of rows.iterate()) insert.run(...Object.values(row))
  }
  to.raw.exec('commit')
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
