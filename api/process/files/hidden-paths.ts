import { existsSync, readFileSync } from 'node:fs'
import { appendFile, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { liesIn } from '../../../adapters/files/inside.ts'
import { vaultMark } from '../../../adapters/vault/mark.ts'
import { refuseNested } from '../../../adapters/workspace/open.ts'
import type { Config } from '../config/settings.ts'
import { configFolder, knownDataFolders } from '../host/known-folders.ts'
import { paths } from '../host/paths.ts'
import { vaultKeys } from '../host/vault-keys.ts'

// Paths that agents must not see. Backups and other data folders also contain vaults, so this data folder is not the
// only one.

/** The settings that name hidden files. */
export type HostFiles = Pick<Config, 'data' | 'file'> & Partial<Pick<Config, 'vaultKeyFile'>>

/** Records the folder of a backup, before the backup writes to it. `folder`: absolute. */
export async function rememberBackup(data: string, folder: string): Promise<void> {
  await appendFile(paths(data).backups, `\n${JSON.stringify(folder)}\n`, { mode: 0o600 })
}

function backupsOf(data: string): string[] {
  const { backups } = paths(data)
  if (!existsSync(backups)) return []
  const lines = readFileSync(backups, 'utf8').split('\n')
  return [...new Set(lines.flatMap(pathIn))].filter((folder) => existsSync(folder))
}

/** Empty for an incomplete line of a process that died. */
function pathIn(line: string): string[] {
  try {
    return [JSON.parse(line) as string]
  } catch {
    return []
  }
}

/**
 * The paths that commands and external agents in a workspace must not see: the data folder, its backups, the
 * configuration file, the vault's key, other data folders that this user has opened, and data folders next to any of
 * these.
 */
export async function hiddenFrom(config: HostFiles, workspace: string): Promise<string[]> {
  const known = [config.data, ...backupsOf(config.data), ...(config.file === undefined ? [] : [config.file])]
  const others = knownDataFolders().flatMap((data) => [data, ...backupsOf(data)])
  const around = new Set([workspace, ...known].map(dirname))
  const beside = await Promise.all([...around].map(dataFoldersIn))
  const further = [...others, ...beside.flat(), configFolder(process.env)]
  // A folder that contains the workspace cannot be hidden. An agent can make its workspace look like a data folder, so
  // skip these.
  return [...known, keyFileOf(config), ...new Set(further.filter((folder) => !liesIn(folder, workspace)))]
}

async function dataFoldersIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.map((name) => join(folder, name)).filter((path) => existsSync(vaultMark(path)))
}

/** Rejects with WorkspaceError WORKSPACE_HOLDS_DATA if tools could reach a backup or the vault's key. */
export async function refuseSecretsIn(workspace: string, config: HostFiles): Promise<void> {
  for (const backup of backupsOf(config.data)) await refuseNested(workspace, backup, 'the backup')
  const key = keyFileOf(config)
  if (existsSync(key)) await refuseNested(workspace, key, "the vault's key")
}

const keyFileOf = ({ vaultKeyFile = null }: HostFiles): string => vaultKeys({ vaultKey: null, vaultKeyFile }).file
