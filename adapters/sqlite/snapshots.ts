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
  private db: DatabaseSync
  private readonly anew: () => DatabaseSync
  /** True: the damaged file is closed and could not be replaced yet. */
  private isUnreplaced = false

  /** `anew`: replaces the file by an empty one. */
  private constructor(db: DatabaseSync, anew: () => DatabaseSync) {
    this.db = db
    this.anew = anew
  }

  /** Opens or creates the file. `remove` deletes a file if there is one; a damaged database is replaced. */
  static open(path: string, remove: (path: string) => void): SqliteSnapshots {
    const anew = () => {
      for (const ending of ['', '-wal', '-shm']) remove(`${path}${ending}`)
      try {
        return opened(path)
      } catch (error) {
        // On a full disk, the store continues in memory: the file with the states is gone.
        if (noRoomIn(error) === null) throw error
        return opened(':memory:')
      }
    }
    const inMemory = () => new SqliteSnapshots(opened(':memory:'), () => opened(':memory:'))
    try {
      return new SqliteSnapshots(opened(path), anew)
    } catch (error) {
      // Another process uses the file, so do not replace it.
      if (isBusy(error)) throw error
      if (isReadOnlyFileSystem(dirname(path))) return inMemory()
    }
    return new SqliteSnapshots(anew(), anew)
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
      // The next `put` replaces a damaged file.
      return null
    }
  }

  async put(stream: string, fold: number, { revision, step, state }: Snapshot): Promise<void> {
    if (!this.db.isOpen && !this.isUnreplaced) return
    this.whole(() =>
      this.db
        .prepare('INSERT OR REPLACE INTO states (stream, fold, revision, step, state) VALUES (?, ?, ?, ?, ?)')
        .run(stream, fold, revision, step, zstdCompressSync(JSON.stringify(state))),
    )
  }

  async clear(): Promise<void> {
    this.whole(() => {
      this.db.exec('DELETE FROM states')
      overwriteDeleted(this.db)
    })
  }

  close(): void {
    this.isUnreplaced = false
    if (this.db.isOpen) this.db.close()
  }

  /** Runs `act`, in a new file if this one is damaged: a power cut can tear it, and SQLite notices only at the torn page. */
  private whole(act: () => void): void {
    if (!this.isUnreplaced) {
      try {
        act()
        return
      } catch (error) {
        if (!isDamaged(error)) throw error
        this.db.close()
        this.isUnreplaced = true
      }
    }
    // If this fails, the next call tries it again.
    this.db = this.anew()
    this.isUnreplaced = false
    act()
  }
}

const BUSY_MS = 2000
const SQLITE_BUSY = 5
// SQLITE_CORRUPT and SQLITE_NOTADB.
const DAMAGED = [11, 26]

const isDamaged = (error: unknown): boolean => DAMAGED.includes(((error as { errcode?: number }).errcode ?? 0) % 256)

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
  try {
    return prepared(db, path)
  } catch (error) {
    db.close()
    throw error
  }
}

function prepared(db: DatabaseSync, path: string): DatabaseSync {
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
