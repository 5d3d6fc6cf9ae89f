import { constants, existsSync } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileOf } from '../../../adapters/sqlite/log/connection.ts'
import { alteredGuards } from '../../../adapters/sqlite/log/guards.ts'
import { isReadOnlyFileSystem } from '../../../adapters/sqlite/open-to-read.ts'
import { checkVault } from '../../../adapters/vault/file-vault.ts'
import type { KeySource } from '../../../adapters/vault/keys.ts'
import { platformOf } from '../../../domain/platform.ts'
import { tokenPath } from '../../http/token.ts'
import { bad, type Finding, message, ok } from '../../operations/doctor/finding.ts'

// The data folder: who can enter it, its token, its vault, and the guards of its log.

/** The folder, or its nearest existing parent. */
export const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(dirname(folder)))

export async function checkFolder(folder: string): Promise<Finding> {
  try {
    const place = nearest(folder)
    if (place !== folder) {
      await access(place, constants.W_OK | constants.X_OK)
      if (!(await stat(place)).isDirectory()) throw new Error(`${place} is a file`)
      return ok('data folder', `${folder}; the first run makes it`)
    }
    const found = await stat(folder)
    if (!found.isDirectory())
      return bad('broken', 'data folder', `${folder} is a file`, 'name a folder with --data or KEEPUP_DATA')
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    const { mode, uid } = found
    if (process.getuid && uid !== process.getuid()) {
      return bad('warning', 'data folder', `${folder} belongs to another user`, 'name one of your own with --data')
    }
    if (platformOf(process.platform).hasModes && (mode & 0o077) !== 0) {
      return bad('warning', 'data folder', `${folder} can be entered by other users`, `chmod 700 '${folder}'`)
    }
    return ok('data folder', folder)
  } catch (error) {
    if (isReadOnlyFileSystem(folder)) {
      const todo = 'runs can be read, verified and packed; to go on with them, copy the folder'
      return bad('warning', 'data folder', `${folder} is on a read-only file system`, todo)
    }
    return bad('broken', 'data folder', message(error), 'make it writable, or name another one with --data')
  }
}

export async function checkToken(folder: string): Promise<Finding> {
  const path = tokenPath(folder)
  if (!existsSync(path)) return ok('token', 'none yet; the first start makes it')
  const { mode } = await stat(path)
  if (!platformOf(process.platform).hasModes || (mode & 0o077) === 0) return ok('token', 'only you can read it')
  return bad('broken', 'token', 'other users can read it', `delete '${path}' (a new one is made) or chmod 600 it`)
}

/** Reports only faults. Without its vault, nothing starts. */
export async function vaultFault(folder: string, keys?: KeySource): Promise<Finding[]> {
  try {
    const names = await checkVault(folder, keys)
    if (names.length === 0) return []
    const found = `not hidden in records: ${names.join(', ')}; the values are too short, or ordinary words`
    return [bad('warning', 'secrets', found, 'set longer values with keepup secrets set NAME; no run is given these')]
  } catch (error) {
    const [found = '', ...todo] = message(error).split('; ')
    return [bad('broken', 'vault', found, todo.join('; '))]
  }
}

/** Reports only altered guards. The guards prevent changes to recorded events. */
export function checkGuards(folder: string): Finding[] {
  try {
    if (!existsSync(fileOf(folder))) return []
    const altered = alteredGuards(folder)
    if (altered.length === 0) return []
    const todo = 'find out who has written to log.db; "verify" tells what was changed; restore the log from a backup'
    return [bad('broken', 'log guards', `removed or changed: ${altered.join(', ')}`, todo)]
  } catch {
    // The check of the log itself reports why it does not open.
    return []
  }
}
