import { DatabaseSync } from 'node:sqlite'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Json } from '../../domain/log/json.ts'
import type { Snapshot, SnapshotStore } from '../../domain/ports.ts'

/**
 * Folded states in a SQLite file of their own. A cache: not synced, and thrown away whole where it cannot be read; every
 * reader holds what it gets against the log's digests. Once closed it holds nothing: the log then tells that it is closed.
 */
export class SqliteSnapshots implements SnapshotStore {
  private readonly db: DatabaseSync

  private constructor(db: DatabaseSync) {
    this.db = db
  }

  /** Opens or makes the file. Rejects nothing that `remove` can mend: a file that is no database is replaced. */
  static open(path: string, remove: (path: string) => void): SqliteSnapshots {
    try {
      return new SqliteSnapshots(opened(path))
    } catch {
      remove(path)
      return new SqliteSnapshots(opened(path))
    }
  }

  async latest(agentId: string, fold: number, upTo: { revision?: number; step?: number }): Promise<Snapshot | null> {
    if (!this.db.isOpen) return null
    const row = this.db
      .prepare(
        `SELECT revision, step, state FROM snapshots
         WHERE agent_id = ? AND fold = ? AND revision <= ? AND step <= ? ORDER BY revision DESC LIMIT 1`,
      )
      .get(agentId, fold, upTo.revision ?? Number.MAX_SAFE_INTEGER, upTo.step ?? Number.MAX_SAFE_INTEGER)
    if (row === undefined) return null
    try {
      const state = JSON.parse(zstdDecompressSync(row.state as Uint8Array).toString('utf8')) as Json
      return { revision: Number(row.revision), step: Number(row.step), state }
    } catch {
      return null
    }
  }

  async put(agentId: string, fold: number, { revision, step, state }: Snapshot): Promise<void> {
    if (!this.db.isOpen) return
    this.db
      .prepare('INSERT OR REPLACE INTO snapshots (agent_id, fold, revision, step, state) VALUES (?, ?, ?, ?, ?)')
      .run(agentId, fold, revision, step, zstdCompressSync(JSON.stringify(state)))
  }

  async clear(): Promise<void> {
    this.db.exec('DELETE FROM snapshots')
    this.db.exec(OVERWRITE)
  }

  close(): void {
    this.db.close()
  }
}

/** What was deleted leaves the WAL too. Where a reader holds it back, the next opening does it. */
const OVERWRITE = 'PRAGMA wal_checkpoint(TRUNCATE)'

function opened(path: string): DatabaseSync {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON; PRAGMA busy_timeout = 2000')
  db.exec(
    `CREATE TABLE IF NOT EXISTS snapshots (
       agent_id TEXT NOT NULL, fold INTEGER NOT NULL, revision INTEGER NOT NULL, step INTEGER NOT NULL, state BLOB NOT NULL,
       PRIMARY KEY (agent_id, fold, revision)) WITHOUT ROWID`,
  )
  db.exec(OVERWRITE)
  return db
}
