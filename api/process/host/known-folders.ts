import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defaultKeyFile } from '../../../adapters/vault/keys.ts'
import { sha256 } from '../../../domain/log/ids.ts'

/** The user's configuration folder of keepup, with the vault's key and the list of data folders. */
export const configFolder = (env: NodeJS.ProcessEnv): string => dirname(defaultKeyFile(env))

const listFolder = (env: NodeJS.ProcessEnv) => join(configFolder(env), 'data-folders')

/**
 * Records a data folder of this user, so that agents of other data folders do not see it. Each folder gets a separate
 * file, so processes that open folders at the same time do not conflict.
 */
export function rememberDataFolder(data: string, env: NodeJS.ProcessEnv = process.env): void {
  const list = listFolder(env)
  const file = join(list, sha256(data))
  if (existsSync(file)) return
  try {
    mkdirSync(list, { recursive: true, mode: 0o700 })
    writeFileSync(file, data, { mode: 0o600 })
  } catch {
    // The home folder is read-only, as in containers. Agents of this data folder do not see it anyway.
  }
}

/** The existing data folders of this user. Removes the others from the list. */
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

/** Null: another process has removed the entry since the list was read. */
function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
