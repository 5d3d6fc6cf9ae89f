import { existsSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Cursor, formatCursor, parseCursor } from '../../domain/log/cursor.ts'
import type { Position, Positions } from '../../domain/ports/index.ts'
import { ensurePrivate } from '../files/private.ts'
import { isReadOnlyFileSystem, openToRead } from './open-to-read.ts'

const BUSY_MS = 5_000
const CREATE = `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS positions(name TEXT PRIMARY KEY, cursor TEXT, epoch INTEGER NOT NULL, note TEXT)
  STRICT, WITHOUT ROWID`

/**
 * Positions in a SQLite file of one data folder. The first claim creates the file. A file that is not a database is
 * replaced, because positions are no facts. A crash of the machine may lose the last writes.
 */
export class SqlitePositions implements Positions {
  readonly #path: string
  #db: DatabaseSync | null = null

  constructor(path: string) {
    this.#path = path
  }

  async read(name: string): Promise<Position | null> {
    if (this.#db === null && !existsSync(this.#path)) return null
    const row = this.#open().prepare('SELECT cursor, epoch, note FROM positions WHERE name = ?').get(name)
    return row === undefined ? null : positionOf(row)
  }

  async claim(name: string): Promise<Position> {
    const sql = `INSERT INTO positions(name, epoch) VALUES (?, 1)
      ON CONFLICT(name) DO UPDATE SET epoch = epoch + 1 RETURNING cursor, epoch, note`
    return positionOf(this.#open().prepare(sql).get(name)!)
  }

  async write(name: string, { cursor, epoch, note }: Position, from?: Cursor | null): Promise<boolean> {
    const where = `name = ? AND epoch = ?${from === undefined ? '' : ' AND cursor IS ?'}`
    const stored = from === undefined ? [] : [from && formatCursor(from)]
    const update = this.#open().prepare(`UPDATE positions SET cursor = ?, note = ? WHERE ${where}`)
    return update.run(cursor && formatCursor(cursor), note, name, epoch, ...stored).changes === 1
  }

  async list(prefix: string): Promise<ReadonlyMap<string, Position>> {
    if (this.#db === null && !existsSync(this.#path)) return new Map()
    const sql = 'SELECT * FROM positions WHERE substr(name, 1, length(?1)) = ?1 ORDER BY name'
    return new Map(
      this.#open()
        .prepare(sql)
        .all(prefix)
        .map((row) => [String(row.name), positionOf(row)]),
    )
  }

  close(): void {
    this.#db?.close()
    this.#db = null
  }

  #open(): DatabaseSync {
    this.#db ??= openedOrAnew(this.#path)
    return this.#db
  }
}

function openedOrAnew(path: string): DatabaseSync {
  try {
    return opened(path)
  } catch (error) {
    if (isReadOnlyFileSystem(dirname(path))) return openToRead(path, BUSY_MS)
    if ((error as { errcode?: number }).errcode !== NOT_A_DATABASE) throw error
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    return opened(path)
  }
}
const NOT_A_DATABASE = 26

function opened(path: string): DatabaseSync {
  ensurePrivate(path)
  const db = new DatabaseSync(path, { timeout: BUSY_MS })
  try {
    db.exec(CREATE)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

const positionOf = ({ cursor, epoch, note }: Readonly<Record<string, unknown>>): Position => ({
  cursor: cursor === null ? null : parseCursor(String(cursor)),
  epoch: Number(epoch),
  note: note === null ? null : String(note),
})
