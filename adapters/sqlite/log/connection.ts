import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LogError } from '../../../domain/log/errors.ts'
import { makeFolder, syncFolder } from '../../files/folders.ts'
import { ensurePrivate } from '../../files/private.ts'
import { openToRead } from '../open-to-read.ts'
import { toLogError } from './errors.ts'
import { APPLICATION_ID, CREATE, SCHEMA } from './schema.ts'

/** The path of the log's file. */
export const fileOf = (folder: string) => join(folder, 'log.db')

/** Opens the file read-only. Throws a LogError if the file is not a keepup log or belongs to another version. */
export function openLogToRead(folder: string): DatabaseSync {
  return opened(folder, 'read', () => {
    if (!existsSync(fileOf(folder)))
      throw new LogError('LOG_FOREIGN', `there is no log in ${folder}; start a run there first, or name another folder`)
    return openToRead(fileOf(folder), 5000)
  })
}

/**
 * Opens the file for the only writer. The settings: WAL, an fsync before each commit is acknowledged, zeros over
 * deleted content, and checkpoints only on the writer's request.
 */
export function openToWrite(folder: string): DatabaseSync {
  return opened(folder, 'open', () => {
    const db = new DatabaseSync(fileOf(folder), { timeout: 5000 })
    db.exec(`
      PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
      PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${16 * 1024 * 1024};
      PRAGMA recursive_triggers = ON; PRAGMA trusted_schema = OFF; PRAGMA cache_size = -16000;
      PRAGMA busy_timeout = 250`)
    return db
  })
}

/** Makes the folder durably, readable only by this user, if it is missing. */
export function ensureFolder(folder: string): void {
  try {
    makeFolder(folder)
  } catch (error) {
    throw toLogError(error, 'create', folder)
  }
}

/**
 * Throws `LOG_MISSING` if the log is missing or empty although one of `traces` exists; traces exist only with a log.
 * Checks before SQLite opens the file, because SQLite would delete the WAL of an empty file.
 */
export function refuseLostLog(folder: string, traces: readonly string[]): void {
  const file = fileOf(folder)
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) refuseTraces(folder, [...traces, `${file}-wal`])
}

/** Throws `LOG_MISSING` if one of `traces` exists. */
export function refuseTraces(folder: string, traces: readonly string[]): void {
  const trace = traces.find((path) => {
    const found = statSync(path, { throwIfNoEntry: false })
    return found !== undefined && (found.isDirectory() || found.size > 0)
  })
  if (trace === undefined) return
  throw new LogError(
    'LOG_MISSING',
    `the log in ${folder} is gone or empty, but ${trace} was written with it; restore log.db from a backup, or move the ` +
      'data folder away to begin anew',
  )
}

/**
 * Makes an empty log in the folder if there is none, and no `traces` of one. Does not change a file of another program.
 */
export function ensureFile(folder: string, traces: readonly string[] = []): void {
  opened(folder, 'create', () => {
    ensurePrivate(fileOf(folder))
    const db = new DatabaseSync(fileOf(folder), { timeout: 5000 })
    try {
      if (!isEmpty(db)) return db
      refuseTraces(folder, traces)
      db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN IMMEDIATE; ${CREATE} COMMIT`)
    } catch (error) {
      db.close()
      throw error
    }
    syncFolder(folder)
    return db
  }).close()
}

// A crash between the creation of the file and of its tables leaves a file without tables. That is a new log, not a
// foreign one.
function isEmpty(db: DatabaseSync): boolean {
  return pragma(db, 'application_id') === 0 && db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n === 0
}

function opened(folder: string, what: string, open: () => DatabaseSync): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    db = open()
    const id = pragma(db, 'application_id')
    if (id !== APPLICATION_ID)
      throw new LogError('LOG_FOREIGN', `log.db in ${folder} is a SQLite file, but no keepup log; name another folder`)
    const version = pragma(db, 'user_version')
    if (version > SCHEMA)
      throw new LogError(
        'LOG_NEWER',
        `the log in ${folder} has schema ${version}, this program knows ${SCHEMA}; use a newer keepup`,
      )
    if (version < SCHEMA)
      throw new LogError(
        'LOG_FOREIGN',
        `the log in ${folder} is of an unreleased keepup (schema ${version}, this program reads ${SCHEMA}); name another folder`,
      )
    return db
  } catch (error) {
    db?.close()
    throw toLogError(error, what, folder)
  }
}

function pragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
}
