import { existsSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Clock, RequestCache } from '../../domain/ports/index.ts'
import { ensurePrivate } from '../files/private.ts'
import { REQUEST_CACHE_TTL_MS } from '../memory/request-cache-ttl.ts'
import { overwriteDeleted } from './overwrite.ts'

const CREATE = `CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, at REAL NOT NULL, answer BLOB NOT NULL) WITHOUT ROWID`
/** Deleted answers are overwritten. Requests whose answers are lost in a crash of the machine are repeated. */
const SETTINGS =
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON; PRAGMA busy_timeout = 1000'

/**
 * The request cache in a SQLite file of one data folder, for the folder's owner only. The first stored answer creates
 * the file. A file that is not a database is replaced. A closed cache stores nothing.
 */
export class SqliteRequestCache implements RequestCache {
  readonly #path: string
  readonly #clock: Pick<Clock, 'now'>
  #db: DatabaseSync | null = null
  #closed = false

  constructor(path: string, clock: Pick<Clock, 'now'>) {
    this.#path = path
    this.#clock = clock
  }

  async get(key: string): Promise<string | null> {
    const row = this.#existing()
      ?.prepare('SELECT answer FROM answers WHERE key = ? AND at > ?')
      .get(key, this.#oldest())
    return row === undefined ? null : zstdDecompressSync(row.answer as Uint8Array).toString('utf8')
  }

  /** Also removes expired answers, so that the file remains small. */
  async put(key: string, answer: string): Promise<void> {
    if (this.#closed) return
    const db = this.#open()
    db.prepare('DELETE FROM answers WHERE at <= ?').run(this.#oldest())
    const insert = db.prepare('INSERT OR REPLACE INTO answers (key, at, answer) VALUES (?, ?, ?)')
    insert.run(key, this.#clock.now(), zstdCompressSync(answer))
  }

  async clear(): Promise<void> {
    const db = this.#existing()
    db?.exec('DELETE FROM answers')
    if (db) overwriteDeleted(db)
  }

  close(): void {
    this.#closed = true
    this.#db?.close()
    this.#db = null
  }

  #existing(): DatabaseSync | null {
    return this.#closed || (this.#db === null && !existsSync(this.#path)) ? null : this.#open()
  }

  #open(): DatabaseSync {
    this.#db ??= openedOrAnew(this.#path)
    return this.#db
  }

  #oldest(): number {
    return this.#clock.now() - REQUEST_CACHE_TTL_MS
  }
}

function openedOrAnew(path: string): DatabaseSync {
  try {
    return opened(path)
  } catch {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    return opened(path)
  }
}

function opened(path: string): DatabaseSync {
  ensurePrivate(path)
  const db = new DatabaseSync(path)
  try {
    db.exec(SETTINGS)
    db.exec(CREATE)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
