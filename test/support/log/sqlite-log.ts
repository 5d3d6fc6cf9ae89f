import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import type { SqliteLog } from '../../../adapters/sqlite/log/log.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { tempFolder } from '../folders.ts'
import { BEFORE } from './sealing.ts'

/** Opens the log in a folder (default: a new one) as its owner, until the test has finished. */
export async function owner(folder = tempFolder()): Promise<SqliteLog> {
  const log = await openSqliteLog({ folder, mode: 'owner', clock: BEFORE })
  onTestFinished(() => log.close())
  return log
}

/** A second connection to the log's file, like that of an SQLite tool. */
export function raw(folder: string): DatabaseSync {
  const db = new DatabaseSync(join(folder, 'log.db'))
  onTestFinished(() => {
    if (db.isOpen) db.close()
  })
  return db
}
