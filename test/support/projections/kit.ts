import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { onTestFinished } from 'vitest'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import type { Database } from '../../../projections/engine/schema/database.ts'
import { specOf, tableNames } from '../../../projections/engine/schema/tables.ts'
import { connectSqlite } from '../../../projections/engine/store/database.ts'
import { openSqliteStore } from '../../../projections/engine/store/sqlite.ts'
import type { Store } from '../../../projections/engine/store/store.ts'
import { tempFolder } from '../folders.ts'
import type { MemoryLog } from './memory-log.ts'

export type Dump = Record<string, Record<string, unknown>[]>

/** The tables of one test, in one database. */
export interface Tables {
  /** Opens a writer. Several may be open. */
  open(): Promise<Store>
  /** Every row of every table, in key order. */
  dump(): Promise<Dump>
  /** For queries. */
  readonly db: Kysely<Database>
  /** Runs SQL that the product does not run. */
  alter(text: string): Promise<void>
}

/** A database for tables, on which the contracts of stores and projectors run. */
export interface TablesKit {
  readonly name: string
  /**
   * The number of cases of a property. `number`: for SQLite; other databases take fewer, because creating their tables
   * is slower.
   */
  cases(number: number): number
  /** Empty tables, removed after the test. */
  fresh(): Promise<Tables>
}

/** Each table with its key. */
export const keys: readonly (readonly [string, readonly string[]])[] = [
  ...tableNames().map((table) => [table, specOf(table).key] as const),
  ['position', ['id']],
  ['streams', ['stream']],
]

export const sqliteKit: TablesKit = {
  name: 'SQLite',
  cases: (number) => number,
  async fresh() {
    const file = join(tempFolder(), 't.db')
    await (await openSqliteStore(file)).close()
    const reader = connectSqlite(file, 'read')
    onTestFinished(() => reader.close())
    return {
      open: () => openSqliteStore(file),
      dump: async () => dumpFile(file),
      db: reader.db,
      alter: async (text) => {
        const db = new DatabaseSync(file)
        db.exec(text)
        db.close()
      },
    }
  },
}

export function dumpFile(file: string): Dump {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const rows = (table: string, key: readonly string[]) =>
      db.prepare(`select * from "${table}" order by ${key.map((name) => `"${name}"`).join()}`).all()
    return Object.fromEntries(keys.map(([table, key]) => [table, rows(table, key).map((row) => ({ ...row }))]))
  } finally {
    db.close()
  }
}

/** A projector over tables, folded up to the log's head. Its store is closed after the test. */
export async function projected(log: MemoryLog, tables: Tables, reader?: number) {
  const store = await tables.open()
  onTestFinished(() => store.close())
  const projector = new Projector({ log, blobs: log.blobs, store, ...(reader === undefined ? {} : { reader }) })
  await projector.catchUp()
  return { store, projector }
}

/** The tables of one fold from the start of the log. */
export async function folded(log: MemoryLog, kit: TablesKit): Promise<Dump> {
  const tables = await kit.fresh()
  const store = await tables.open()
  await new Projector({ log, blobs: log.blobs, store }).catchUp()
  await store.close()
  return tables.dump()
}
