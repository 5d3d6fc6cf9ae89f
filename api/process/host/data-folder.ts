import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../../adapters/files/folders.ts'
import { fileOf, openLogToRead } from '../../../adapters/sqlite/log/connection.ts'
import { noRoom } from '../../operations/disk-full.ts'
import { Problem } from '../../operations/problem.ts'
import { paths } from './paths.ts'

const FOLDERS = ['log', 'blobs', 'tables', 'vault', 'versions.git', 'versions-index', 'locks', 'processes', 'plans']
const FILES = [
  'token',
  'owner.path',
  'log.key',
  'log.key.lock',
  'witness.key',
  'witness.key.lock',
  'tree.db',
  'tree.db-wal',
  'tree.db-shm',
  'vault.check',
  'snapshots.db',
  'request-cache.db',
  'backups.jsonl',
]

/**
 * Throws a Problem with a remedy for an unusable data folder, before anything is created in it. Creates a missing
 * folder for an owner.
 */
export function checkDataFolder(data: string, mode: 'owner' | 'reader'): void {
  if (mode === 'owner') ensureWritable(data)
  if (existsSync(paths(data).halfLog))
    throw unusable(`${data} is half a backup, which was interrupted; delete it, and make the backup again`)
  for (const name of [...FOLDERS, ...FILES]) {
    const path = join(data, name)
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined || (FOLDERS.includes(name) ? found.isDirectory() : found.isFile())) continue
    throw unusable(
      `${path} is not the ${FOLDERS.includes(name) ? 'folder' : 'file'} that keepup keeps there; move it away`,
    )
  }
}

/**
 * Throws the LogError of a log that this program cannot read, for commands that change a data folder without its log.
 * A folder without a log passes.
 */
export function checkLogReadable(data: string): void {
  const { log } = paths(data)
  if (existsSync(fileOf(log))) openLogToRead(log).close()
}

function ensureWritable(data: string): void {
  try {
    makeFolder(data)
    accessSync(data, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    if (noRoom(error) !== null) throw error
    throw unusable(
      `cannot write to the data folder ${data} (${reason(data, error)}); check that the folder exists and that this ` +
        'user may write to it, or name another one with --data',
    )
  }
}

function reason(data: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EROFS') return 'its file system is read-only'
  const found = statSync(data, { throwIfNoEntry: false })
  if (found && !found.isDirectory()) return 'it is a file'
  const foreign = found && process.getuid && found.uid !== process.getuid()
  return foreign ? `it belongs to user ${found.uid}` : (code ?? String(error))
}

const unusable = (message: string): Problem => new Problem('DATA_FOLDER_UNUSABLE', message)
