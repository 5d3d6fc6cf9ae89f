import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defaultKeyFile } from '../../../adapters/vault/keys.ts'
import { sha256 } from '../../../domain/log/ids.ts'

/** The user's folder of keepup: the vault's key, and the list of data folders. */
export const configFolder = (env: NodeJS.ProcessEnv): string => dirname(defaultKeyFile(env))

const listFolder = (env: NodeJS.ProcessEnv) => join(configFolder(env), 'data-folders')

/**
 * Remembers a data folder of this user, so that agents of other data folders do not see it. One file for each folder: processes
 * that open folders at the same time do not disturb each other.
 */
export function rememberDataFolder(data: string, env: NodeJS.ProcessEnv = process.env): void {
  const list = listFolder(env)
  const file = join(list, sha256(data))
  if (existsSync(file)) return
  try {
    mkdirSync(list, { recursive: true, mode: 0o700 })
    writeFileSync(file, data, { mode: 0o600 })
  } catch {
    // The home is read-only, as in containers: this folder's own agents do not see it all the same.
  }
}

/** The data folders of this user that are still there. Forgets the others. */
export function knownDataFolders(env: NodeJS.ProcessEnv = process.env): string[] {
  const list = listFolder(env)
  if (!existsSync(list)) return []
  return readdirSync(list).flatMap((name) => {
    const file = join(list, name)
    const data = read(file)
    if (data !== null && existsSync(data)) return [data]
    if (data !== null) rmSync(file, { force: true })
    return []
  })
}

/** Null: another process has forgotten the folder since the list was read. */
function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
