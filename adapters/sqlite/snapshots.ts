import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { noRoomIn } from '../../domain/log/errors.ts'
import type { Snapshot, SnapshotStore } from '../../domain/ports/index.ts'
import { ensurePrivate } from '../files/private.ts'
import { isReadOnlyFileSystem } from './open-to-read.ts'
import { overwriteDeleted } from './overwrite.ts'

/**
 * SQLiteCheckpointer (seed 003): folded states in a SQLite file. The file is a cache: it is not synced, and it is
 * replaced if it is unreadable. Every reader checks a snapshot against the log's digests. A closed store returns no
 * snapshots.
 */
export class SqliteSnapshots implements SnapshotStore {
  private readonly db: DatabaseSync

  private constructor(db: DatabaseSync) {
    this.db = db
  }

  /** Opens or creates the file. `remove` deletes a file that is not a database, which is then replaced. */
  static open(path: string, remove: (path: string) => void): SqliteSnapshots {
    try {
      return new SqliteSnapshots(opened(path))
    } catch (error) {
      // Another process uses the file, so do not replace it.
      if (isBusy(error)) throw error
      if (isReadOnlyFileSystem(dirname(path))) return new SqliteSnapshots(opened(':memory:'))
      remove(path)
    }
    try {
      return new SqliteSnapshots(opened(path))
    } catch (error) {
      // On a full disk, a reader continues with a store in memory.
      if (noRoomIn(error) === null) throw error
      return new SqliteSnapshots(opened(':memory:'))
    }
  }

  async latest(stream: string, fold: number, upTo: { revision?: number; step?: number }): Promise<Snapshot | null> {
    if (!this.db.isOpen) return null
    try {
      const row = this.db
        .prepare(
          `SELECT revision, step, state FROM states
           WHERE stream = ? AND fold = ? AND revision <= ? AND step <= ? ORDER BY revision DESC LIMIT 1`,
        )
        .get(stream, fold, upTo.revision ?? Number.MAX_SAFE_INTEGER, upTo.step ?? Number.MAX_SAFE_INTEGER)
      if (row === undefined) return null
      const state: unknown = JSON.parse(zstdDecompressSync(row.state as Uint8Array).toString('utf8'))
      return { revision: Number(row.revision), step: Number(row.step), state }
    } catch {
      return null
    }
  }

  async put(stream: string, fold: number, { revision, step, state }: Snapshot): Promise<void> {
    if (!this.db.isOpen) return
    this.db
      .prepare('INSERT OR REPLACE INTO states (stream, fold, revision, step, state) VALUES (?, ?, ?, ?, ?)')
      .run(stream, fold, revision, step, zstdCompressSync(JSON.stringify(state)))
  }

  async clear(): Promise<void> {
    this.db.exec('DELETE FROM states')
    overwriteDeleted(this.db)
  }

  close(): void {
    this.db.close()
  }
}

const BUSY_MS = 2000
const SQLITE_BUSY = 5

const isBusy = (error: unknown): boolean => ((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY

/** Sets WAL mode. If several processes do this at once, one succeeds; the others get SQLITE_BUSY at once and retry. */
function inWal(db: DatabaseSync): void {
  const until = performance.now() + BUSY_MS
  for (;;) {
    try {
      db.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error
    }
  }
}

const walBytes = (path: string): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0

function opened(path: string): DatabaseSync {
  if (path !== ':memory:') ensurePrivate(path)
  const db = new DatabaseSync(path, { timeout: BUSY_MS })
  db.exec('PRAGMA synchronous = OFF; PRAGMA secure_delete = ON')
  inWal(db)
  // Do not wait long for a cache: another process may be suspended while it has the lock.
  db.exec('PRAGMA busy_timeout = 50')
  // The table of earlier versions.
  db.exec('DROP TABLE IF EXISTS snapshots')
  db.exec(
    `CREATE TABLE IF NOT EXISTS states (
       stream TEXT NOT NULL, fold INTEGER NOT NULL, revision INTEGER NOT NULL, step INTEGER NOT NULL, state BLOB NOT NULL,
       PRIMARY KEY (stream, fold, revision)) WITHOUT ROWID`,
  )
  // A process that was killed while it cleared the cache left the deleted states in the WAL.
  if (walBytes(path) > 0) overwriteDeleted(db)
  return db
}
