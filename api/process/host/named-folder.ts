import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { makeFolder } from '../../../adapters/files/folders.ts'
import { noRoom } from '../../operations/no-room.ts'
import { Problem } from '../../operations/problem.ts'

/** Does something with a folder that a person has named; rejects with `FOLDER_UNUSABLE` where it cannot be a folder. */
export async function asFolder<T>(folder: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall === undefined || noRoom(error) !== null) throw error
    const name = folder.length > LONGEST ? `${folder.slice(0, LONGEST)}…` : folder
    throw new Problem('FOLDER_UNUSABLE', `${name} cannot be used as a folder (${code}); name another one`)
  }
}
const LONGEST = 200

/** The names in the folder; none where it is missing. Rejects as {@link asFolder} does. */
export const entriesOf = (folder: string): Promise<string[]> =>
  asFolder(folder, () => (existsSync(folder) ? readdir(folder) : []))

/** Makes it where it is missing. Rejects as {@link asFolder} does. */
export const makeAsked = (folder: string, mode?: number): Promise<void> =>
  asFolder(folder, () => makeFolder(folder, mode))
