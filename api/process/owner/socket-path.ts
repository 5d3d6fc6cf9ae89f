import { lstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { sha256 } from '../../../domain/log/ids.ts'
import { platformOf } from '../../../domain/platform.ts'

/** The kernel's limit on a socket's path, in bytes, without the terminating zero. */
export const MAX_SOCKET_PATH = 107

/** The name of the owner's pipe where sockets are no files. */
const pipeOf = (folder: string): string | null =>
  platformOf(process.platform).hasSocketFiles ? null : `\\\\.\\pipe\\keepup-${sha256(folder).slice(0, 32)}`

const recordOf = (dataFolder: string) => join(dataFolder, 'owner.path')

/** A private folder for the sockets of data folders with long paths. Throws if another user created it. */
function runtimeFolder(env: NodeJS.ProcessEnv): string {
  const { uid } = userInfo()
  const folder = join(env.XDG_RUNTIME_DIR ?? tmpdir(), `keepup-${uid}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (!found.isDirectory() || (uid >= 0 && (found.uid !== uid || (found.mode & 0o077) !== 0))) {
    throw new Error(`${folder} is not a private folder of yours; remove it, or set XDG_RUNTIME_DIR to one that is`)
  }
  return folder
}

/**
 * The socket path for an owner of a data folder. Replaces a path that is too long by a short one and records it in the
 * data folder.
 */
export function chooseSocketPath(dataFolder: string, env: NodeJS.ProcessEnv): string {
  const folder = resolve(dataFolder)
  const pipe = pipeOf(folder)
  if (pipe !== null) return pipe
  const own = join(folder, 'owner.sock')
  if (Buffer.byteLength(own) <= MAX_SOCKET_PATH) {
    rmSync(recordOf(folder), { force: true })
    return own
  }
  const short = join(runtimeFolder(env), `${sha256(folder).slice(0, 16)}.sock`)
  writeFileSync(recordOf(folder), short, { mode: 0o600 })
  return short
}

/** The socket path of the data folder's owner, if there is one. */
export function findSocketPath(dataFolder: string): string {
  const pipe = pipeOf(resolve(dataFolder))
  if (pipe !== null) return pipe
  const record = recordOf(resolve(dataFolder))
  return statSync(record, { throwIfNoEntry: false })?.isFile()
    ? readFileSync(record, 'utf8').trim()
    : join(resolve(dataFolder), 'owner.sock')
}
