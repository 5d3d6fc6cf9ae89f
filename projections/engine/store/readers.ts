import type { Kysely } from 'kysely'
import { ProjectionError } from '../errors.ts'
import type { Database } from '../schema/database.ts'
import { damagedOr, mustHoldTables } from './damage.ts'
import { type Connection, connectSqlite } from './database.ts'
import type { Answer } from './home.ts'
import { liveFile } from './pointer.ts'
import { progressOf } from './store.ts'
import { GivesWay } from './yielding-plugin.ts'

interface Reader {
  readonly file: string
  readonly connection: Connection
  active: number
}

/**
 * Reads the live tables. Each read looks up the live file, sees one state of it, and never waits for the writer. A
 * rebuild removes a file after its last read.
 */
export class Readers {
  readonly #folder: string
  #reader: Reader | null = null
  constructor(folder: string) {
    this.#folder = folder
  }

  /** `query` must await nothing but its database: other reads wait for the same connection. */
  async use<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    const reader = this.#current()
    reader.active++
    try {
      return await reader.connection.db.transaction().execute(async (db) => {
        const row = await db.selectFrom('position').selectAll().executeTakeFirst()
        return { position: row ? progressOf(row).cursor : null, data: await query(db.withPlugin(new GivesWay())) }
      })
    } catch (error) {
      throw damagedOr(error)
    } finally {
      reader.active--
      if (reader !== this.#reader && reader.active === 0) reader.connection.close()
    }
  }

  close(): void {
    this.#retire()
  }

  #current(): Reader {
    for (let tries = 0; ; tries++) {
      const file = liveFile(this.#folder)
      if (file === null)
        throw new ProjectionError('NOT_FOUND', 'the tables are gone; they come back from the log: run "keepup rebuild"')
      if (this.#reader?.file === file) return this.#reader
      try {
        mustHoldTables(file)
        const connection = connectSqlite(file, 'read')
        this.#retire()
        this.#reader = { file, connection, active: 0 }
        return this.#reader
      } catch (error) {
        // The file may have been replaced after the pointer was read.
        if (tries === 2) throw error
      }
    }
  }

  #retire(): void {
    if (this.#reader?.active === 0) this.#reader.connection.close()
    this.#reader = null
  }
}

/** Reads one state of the live tables of a folder on a connection of its own. `query` may await anything. */
export async function readApart<T>(folder: string, query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
  const readers = new Readers(folder)
  try {
    return await readers.use(query)
  } finally {
    readers.close()
  }
}
