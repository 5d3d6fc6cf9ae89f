import { randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

// Tables at past positions, in files next to the live ones. They are a cache: an erasure and each start remove all of
// them, so no file shows a body that was erased.

/** `past-<position>.db`; while the file is made, with a random part after the position. SQLite adds files with suffixes. */
const PAST = /^past-\d+(\.[0-9a-f]+)?\.db/
const MADE = /^past-\d+\.db$/

/** The path of the tables at a position. */
export const pastFile = (folder: string, position: number): string => join(folder, `past-${position}.db`)

/** Creates an empty file for the tables at a position, accessible to this user only. */
export function freshPastFile(folder: string, position: number): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, `past-${position}.${randomBytes(8).toString('hex')}.db`)
  closeSync(openSync(file, 'wx', 0o600))
  return file
}

/** Gives a made file its name. False: an erasure has removed the file in the meantime. */
export function keepPastFile(made: string, file: string): boolean {
  try {
    renameSync(made, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** Records a use of a file, so that {@link dropOldPast} keeps it longer. */
export function usePastFile(file: string): void {
  const now = new Date()
  utimesSync(file, now, now)
}

/** Removes all files of past positions, those in the making too. */
export function dropPast(folder: string): void {
  for (const name of namesIn(folder)) if (PAST.test(name)) rmSync(join(folder, name), { force: true })
}

/** Removes the files of past positions that were not used lately, until `most` are left. */
export function dropOldPast(folder: string, most: number): void {
  const made = namesIn(folder).filter((name) => MADE.test(name))
  const byUse = made
    .map((name) => ({
      file: join(folder, name),
      at: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }))
    .toSorted((a, b) => b.at - a.at)
  for (const { file } of byUse.slice(most)) dropPastFile(file)
}

export function dropPastFile(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
