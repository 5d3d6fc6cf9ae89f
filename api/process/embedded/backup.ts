import { existsSync } from 'node:fs'
import { cp, open, readdir, rename, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { exclusively } from '../../../adapters/files/exclusive.ts'
import { syncFolder } from '../../../adapters/files/folders.ts'
import { ensureFolder } from '../../../adapters/sqlite/log/connection.ts'
import type { SqliteLog } from '../../../adapters/sqlite/log/log.ts'
import type { SqliteTreeStore } from '../../../adapters/sqlite/tree-store.ts'
import { vaultFiles } from '../../../adapters/vault/vault-files.ts'
import { workspaceAround } from '../../../adapters/workspace/lock.ts'
import { nearestReal } from '../../../adapters/workspace/open.ts'
import { platformOf } from '../../../domain/platform.ts'
import { Problem } from '../../operations/problem.ts'
import { rememberBackup } from '../files/hidden-paths.ts'
import { asFolder, entriesOf, makeAsked } from '../files/named-folder.ts'
import { paths } from '../host/paths.ts'

/**
 * Copies a data folder while it is in use. The copy is a valid data folder. It contains the log at one moment, copied
 * first, then blobs, workspace versions and the vault, so the copy contains everything the log refers to. The exception
 * is content erased during the copy: `verify` reports it in the copy as a missing blob. Tables and snapshots are
 * rebuilt. The copy contains the vault's secrets, so protect it like the original. The log gets its final name when
 * everything else is durable, so an incomplete copy does not open.
 */
export async function backupFolder(
  data: string,
  log: SqliteLog,
  tree: SqliteTreeStore | null,
  folder: string,
): Promise<{ files: readonly string[]; bytes: number }> {
  const target = await asFolder(folder, () => nearestReal(resolve(folder)))
  if ((await entriesOf(target)).length > 0) {
    throw new Problem('FOLDER_NOT_EMPTY', `${target} is not empty; name a new folder for the backup`)
  }
  if (!relative(data, target).startsWith('..')) {
    throw new Problem('FOLDER_INSIDE', `${target} lies inside the data folder; name a folder outside of it`)
  }
  const workspace = workspaceAround(target, data)
  if (workspace !== null) {
    throw new Problem(
      'FOLDER_IN_WORKSPACE',
      `${target} lies in ${workspace}, where agents work: they could read the vault in it; name a folder outside of it`,
    )
  }
  await rememberBackup(data, target)
  await makeAsked(target)
  const [from, to] = [paths(data), paths(target)]
  ensureFolder(to.halfLog)
  // The signed heads come first, because the log must contain their events. The key that signs them stays here.
  tree?.backup(to.tree)
  await log.backup(to.halfLog)
  const copy = async (part: 'blobs' | 'versions' | 'vault' | 'vaultMark') => {
    if (existsSync(from[part])) await cp(from[part], to[part], { recursive: true, preserveTimestamps: true })
  }
  await copy('blobs')
  await copy('versions')
  // Copy both under the lock. A change in between would make the copied mark newer than the copied vault.
  await exclusively(vaultFiles(data).lock, async () => {
    await copy('vault')
    await copy('vaultMark')
  })
  await makeDurable(target)
  await rename(to.halfLog, to.log)
  syncFolder(target)
  const files = await filesIn(target)
  return {
    files: files.map(({ path }) => relative(target, path)),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
  }
}

/** Syncs everything in a folder: contents, names and the folder itself. */
async function makeDurable(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const { opensFolders } = platformOf(process.platform)
  for (const entry of entries) {
    if (!(entry.isDirectory() && opensFolders) && !entry.isFile()) continue
    // Windows syncs a file only through a handle that may write.
    const handle = await open(join(entry.parentPath, entry.name), opensFolders ? 'r' : 'r+')
    await handle.sync().finally(() => handle.close())
  }
  syncFolder(folder)
}

async function filesIn(folder: string): Promise<{ path: string; bytes: number }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Promise.all(paths.map(async (path) => ({ path, bytes: (await stat(path)).size })))
}
