import { existsSync } from 'node:fs'
import { cp, readdir, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { makeFolder } from '../../adapters/files/folders.ts'
import type { SqliteLog } from '../../adapters/log-sqlite/log.ts'
import { workspaceAround } from '../../adapters/workspace/lock.ts'
import { nearestReal } from '../../adapters/workspace/open.ts'
import { rememberBackup } from '../host/hidden.ts'
import { paths } from '../host/paths.ts'
import { Problem } from '../http/problem.ts'

/**
 * A copy of a data folder that opens as one, made while it is in use: the log as it is at one moment first, then blobs,
 * shadow versions and the vault, so that all that the log names is in the copy. Only what is erased between the two is
 * not: `verify` tells it of the copy as a missing blob. Tables and snapshots come back by themselves. The vault's secrets are in the copy: keep it as safe as the original.
 */
export async function backupFolder(
  data: string,
  log: SqliteLog,
  folder: string,
): Promise<{ files: readonly string[]; bytes: number }> {
  const target = await nearestReal(resolve(folder))
  if (existsSync(target) && (await readdir(target)).length > 0) {
    throw new Problem(409, 'FOLDER_NOT_EMPTY', `${target} is not empty; name a new folder for the backup`)
  }
  if (!relative(data, target).startsWith('..')) {
    throw new Problem(409, 'FOLDER_INSIDE', `${target} lies inside the data folder; name a folder outside of it`)
  }
  const workspace = workspaceAround(target, data)
  if (workspace !== null) {
    throw new Problem(
      409,
      'FOLDER_IN_WORKSPACE',
      `${target} lies in ${workspace}, where agents work: they could read the vault in it; name a folder outside of it`,
    )
  }
  await rememberBackup(data, target)
  makeFolder(target)
  const [from, to] = [paths(data), paths(target)]
  await log.backup(to.log)
  for (const part of ['blobs', 'versions', 'vault', 'vaultMark'] as const) {
    if (existsSync(from[part])) await cp(from[part], to[part], { recursive: true, preserveTimestamps: true })
  }
  const files = (await readdir(target, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size))
  return { files: files.map((file) => relative(target, file)), bytes: sizes.reduce((sum, size) => sum + size, 0) }
}
