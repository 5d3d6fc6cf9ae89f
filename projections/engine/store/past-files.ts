import { randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

// Tables at past positions, in files next to the live ones. They are a cache: an erasure and each start of the owner
// remove all of them. The name of a kept file contains the number of bodies that the log had erased when the file was
// made: a file with another number may show a body that was erased later.

/** `past-<position>-<erasures>.db`; a private file has a random part in place of the erasures. SQLite adds files with suffixes. */
const PAST = /^past-\d+[-.][0-9a-f]+\.db/
const KEPT = /^past-(\d+)-(\d+)\.db$/

/** The path of the kept tables at a position, made when the log had erased this many bodies. */
export const pastFile = (folder: string, position: number, erasures: number): string =>
  join(folder, `past-${position}-${erasures}.db`)

/** Creates an empty private file for the tables at a position, accessible to this user only. */
export function freshPastFile(folder: string, position: number): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, `past-${position}.${randomBytes(8).toString('hex')}.db`)
  closeSync(openSync(file, 'wx', 0o600))
  return file
}

/** Gives a private file the name of a kept one. False: an erasure has removed the file in the meantime. */
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

/** The kept file with the greatest position before this one, made with this many erasures; null: there is none. */
export function pastFileBefore(folder: string, position: number, erasures: number): string | null {
  const before = namesIn(folder)
    .map((name) => KEPT.exec(name))
    .filter((match) => match !== null && Number(match[1]) < position && Number(match[2]) === erasures)
    .map((match) => Number(match![1]))
  return before.length === 0 ? null : pastFile(folder, Math.max(...before), erasures)
}

/** Removes all files of past positions, private ones too. */
export function dropPast(folder: string): void {
  for (const name of namesIn(folder)) if (PAST.test(name)) rmSync(join(folder, name), { force: true })
}

/** Removes kept files of past positions, the least recently used first, until `most` are left. `current` stays. */
export function dropOldPast(folder: string, most: number, current: string): void {
  const others = namesIn(folder)
    .filter((name) => KEPT.test(name))
    .map((name) => join(folder, name))
    .filter((file) => file !== current)
    .map((file) => ({ file, at: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .toSorted((a, b) => b.at - a.at)
  for (const { file } of others.slice(most - 1)) dropPastFile(file)
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
