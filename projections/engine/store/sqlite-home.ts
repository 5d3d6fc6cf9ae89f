import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { Database, PositionRow } from '../schema/database.ts'
import { tableNames } from '../schema/tables.ts'
import { isDamagedFile, mustHoldTables } from './damage.ts'
import { connectSqlite } from './database.ts'
import type { Answer, Home, TableDifference } from './home.ts'
import { dropFile, dropOthers, freshFile, liveFile, pointTo } from './pointer.ts'
import { Readers, readApart } from './readers.ts'
import { openSqliteStore } from './sqlite.ts'
import { progressOf, type Store } from './store.ts'

/** Tables in files of one folder that belongs to one process. */
export class SqliteHome implements Home {
  readonly #folder: string
  readonly #readers: Readers
  constructor(folder: string) {
    this.#folder = folder
    this.#readers = new Readers(folder)
  }

  async live(): Promise<string | null> {
    return liveFile(this.#folder)
  }

  /** Null: the tables share a folder with their log, so tables of another log replace them together with it. */
  async logId(): Promise<null> {
    return null
  }

  async open(file: string): Promise<Store> {
    mustHoldTables(file)
    return openSqliteStore(file)
  }

  async fresh(): Promise<{ name: string; store: Store }> {
    const name = freshFile(this.#folder)
    return { name, store: await openSqliteStore(name) }
  }

  async compare(
    live: string,
    rebuilt: string,
    catchUp: (to: Cursor) => Promise<unknown>,
  ): Promise<TableDifference[] | null> {
    const { raw, close } = connectSqlite(live, 'read')
    try {
      raw.prepare('attach database ? as rebuilt').run(rebuilt)
      const version = (schema: string) => Number(raw.prepare(`pragma ${schema}.user_version`).get()!.user_version)
      if (version('main') !== version('rebuilt')) return null
      // The first read fixes the state that this transaction sees; the projector of the live file continues.
      raw.exec('begin')
      const at = raw.prepare('select * from main.position where id = 1').get() as PositionRow | undefined
      const cursor = at && progressOf(at).cursor
      if (!cursor) return null
      await catchUp(cursor)
      return ['position', 'streams', ...tableNames()].flatMap((table) => compareTable(raw, table) ?? [])
    } catch (error) {
      // Damaged tables are not compared.
      if (isDamagedFile(error)) return null
      throw error
    } finally {
      close()
    }
  }

  async pointTo(file: string): Promise<boolean> {
    pointTo(this.#folder, file)
    return true
  }

  async drop(file: string): Promise<void> {
    dropFile(file)
  }

  async dropOthers(): Promise<void> {
    dropOthers(this.#folder)
  }

  read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    return this.#readers.use(query)
  }

  async readApart<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    return readApart(this.#folder, query)
  }

  async close(): Promise<void> {
    this.#readers.close()
  }
}

/** The fixed compare query: rows that only one side has, both ways. */
function compareTable(raw: DatabaseSync, table: string): TableDifference | null {
  const minus = (a: string, b: string) => `select * from ${a}."${table}" except select * from ${b}."${table}"`
  const count = (query: string) => Number(raw.prepare(`select count(*) as n from (${query})`).get()!.n)
  const some = (query: string) => raw.prepare(`select * from (${query}) limit 3`).all()
  const [ours, theirs] = [minus('main', 'rebuilt'), minus('rebuilt', 'main')]
  const [onlyLive, onlyRebuilt] = [count(ours), count(theirs)]
  if (onlyLive === 0 && onlyRebuilt === 0) return null
  return { table, onlyLive, onlyRebuilt, examples: { live: some(ours), rebuilt: some(theirs) } }
}
