import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { makeFolder } from '../../../adapters/files/folders.ts'
import { noRoom } from '../../operations/disk-full.ts'
import { Problem } from '../../operations/problem.ts'

/**
 * Works with a folder that a person has named. Rejects with `FOLDER_UNUSABLE` if the path cannot be used as a folder.
 */
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

/** The names in the folder. Empty if it does not exist. Rejects like {@link asFolder}. */
export const entriesOf = (folder: string): Promise<string[]> =>
  asFolder(folder, () => (existsSync(folder) ? readdir(folder) : []))

/** Creates the folder if it does not exist. Rejects like {@link asFolder}. */
export const makeAsked = (folder: string, mode?: number): Promise<void> =>
  asFolder(folder, () => makeFolder(folder, mode))
