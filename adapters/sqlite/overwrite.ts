import type { DatabaseSync } from 'node:sqlite'
import { syncFile } from '../files/folders.ts'

/**
 * Removes deleted rows from a cache's file and WAL, durably, although the cache itself is not synced. The database needs
 * `secure_delete`. If a reader prevents it, the WAL remains, and the next call removes it.
 */
export function overwriteDeleted(db: DatabaseSync): void {
  const { synchronous } = db.prepare('PRAGMA synchronous').get()!
  // With `OFF`, a checkpoint syncs neither file.
  db.exec('PRAGMA synchronous = FULL')
  try {
    const isDone = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0
    const file = db.location()
    // SQLite does not sync the truncation of the WAL.
    if (isDone && file !== null) syncFile(`${file}-wal`)
  } finally {
    db.exec(`PRAGMA synchronous = ${synchronous}`)
  }
}
