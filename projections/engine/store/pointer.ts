import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ProjectionError } from '../errors.ts'
import { BUSY_MS } from './database.ts'
import { dropPast } from './past-files.ts'
import { syncPath } from './sync.ts'

// The file `current` names the live tables file. A rebuild creates a second file next to it and then changes the name.

const POINTER = 'current'
const FILE = /^tables-(\d+)\.db/
const NAME = /^tables-\d+\.db$/

/**
 * The live file's path; null when no valid name is stored, because there are no tables yet or the name was damaged (the
 * tables are then rebuilt). Throws ProjectionError DAMAGED when the name cannot be read.
 */
export function liveFile(folder: string): string | null {
  const path = join(folder, POINTER)
  try {
    const name = readFileSync(path, 'utf8').trim()
    return NAME.test(name) ? join(folder, name) : null
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    const why = `${path} cannot be read (${(error as Error).message}); move it away: the tables come back from the log`
    throw new ProjectionError('DAMAGED', why, { cause: error })
  }
}

/** Creates an empty file for new tables, accessible to this user only; SQLite gives its WAL the same mode. */
export function freshFile(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const numbers = readdirSync(folder).map((name) => Number(FILE.exec(name)?.[1] ?? 0))
  const file = join(folder, `tables-${Math.max(0, ...numbers) + 1}.db`)
  closeSync(openSync(file, 'wx', 0o600))
  return file
}

/**
 * Makes `file` live, durably and atomically: a reader finds the old name or the new one. First syncs the tables in the
 * file, because their commits are not synced one by one: a power cut must not leave a live file without tables.
 */
export function pointTo(folder: string, file: string): void {
  syncTables(file)
  const temporary = join(folder, `${POINTER}.new`)
  const handle = openSync(temporary, 'w', 0o600)
  try {
    writeSync(handle, file.slice(folder.length + 1))
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(temporary, join(folder, POINTER))
  syncPath(folder)
}

function syncTables(file: string): void {
  const db = new DatabaseSync(file, { timeout: BUSY_MS })
  try {
    db.exec('pragma synchronous = full; pragma wal_checkpoint(passive)')
  } finally {
    db.close()
  }
}

/** Removes every tables file except the live one, those of past positions too. A reader can use its file until it closes. */
export function dropOthers(folder: string): void {
  dropPast(folder)
  const live = liveFile(folder)
  for (const name of readdirSync(folder)) {
    const match = FILE.exec(name)
    if (match && join(folder, `tables-${match[1]}.db`) !== live) rmSync(join(folder, name), { force: true })
  }
}

/** Removes one tables file that is not live. */
export function dropFile(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
}
