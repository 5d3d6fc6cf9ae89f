import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { onTestFinished } from 'vitest'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import type { Database } from '../../../projections/engine/schema/database.ts'
import { specOf, tableNames } from '../../../projections/engine/schema/tables.ts'
import { connect } from '../../../projections/engine/store/database.ts'
import { openSqliteStore } from '../../../projections/engine/store/sqlite.ts'
import type { Store } from '../../../projections/engine/store/store.ts'
import { tempFolder } from '../folders.ts'
import type { MemoryLog } from './memory-log.ts'

export type Dump = Record<string, Record<string, unknown>[]>

/** Tables of one test, in one database. */
export interface Tables {
  /** A writer; there may be several. */
  open(): Promise<Store>
  /** Every row of every table, in order of its key. */
  dump(): Promise<Dump>
  /** For queries. */
  readonly db: Kysely<Database>
  /** Runs SQL that no part of the product runs. */
  alter(text: string): Promise<void>
}

/** A database that holds tables: what the contracts of stores and projectors are run on. */
export interface TablesKit {
  readonly name: string
  /** Cases of a property, of the number that SQLite takes: making tables costs more elsewhere. */
  cases(number: number): number
  /** Empty tables, gone after the test. */
  fresh(): Promise<Tables>
}

/** Each table with its key. */
export const keys: readonly (readonly [string, readonly string[]])[] = [
  ...tableNames.map((table) => [table, specOf(table).key] as const),
  ['position', ['id']],
  ['streams', ['stream']],
]

export const sqliteKit: TablesKit = {
  name: 'SQLite',
  cases: (number) => number,
  async fresh() {
    const file = join(tempFolder(), 't.db')
    await (await openSqliteStore(file)).close()
    const reader = connect(file, 'read')
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

/** A projector over tables, folded up to the log's head; its store is closed after the test. */
export async function projected(log: MemoryLog, tables: Tables, reader?: number) {
  const store = await tables.open()
  onTestFinished(() => store.close())
  const projector = new Projector({ log, blobs: log.blobs, store, ...(reader === undefined ? {} : { reader }) })
  await projector.catchUp()
  return { store, projector }
}

/** The tables that one fold from zero makes. */
export async function folded(log: MemoryLog, kit: TablesKit): Promise<Dump> {
  const tables = await kit.fresh()
  const store = await tables.open()
  await new Projector({ log, blobs: log.blobs, store }).catchUp()
  await store.close()
  return tables.dump()
}
