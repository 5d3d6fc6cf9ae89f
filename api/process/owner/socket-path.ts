import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { sha256 } from '../../../domain/log/ids.ts'
import { platformOf } from '../../../domain/platform.ts'

/** The kernel's limit on a socket's path, in bytes, without the terminating zero. */
export const MAX_SOCKET_PATH = 107

/**
 * A name for the pipe of an owner. Every user of the system can create a pipe of any name, so a name that others can guess
 * could lead clients, with the token, to another user.
 */
const randomPipe = (): string => `\\\\.\\pipe\\keepup-${randomBytes(16).toString('hex')}`

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
 * The socket path for an owner of a data folder. Where it is not the usual path in the data folder, because that is too
 * long or sockets are no files, records it in the data folder.
 */
export function chooseSocketPath(dataFolder: string, env: NodeJS.ProcessEnv): string {
  const folder = resolve(dataFolder)
  const record = (path: string) => {
    writeFileSync(recordOf(folder), path, { mode: 0o600 })
    return path
  }
  if (!platformOf(process.platform).hasSocketFiles) return record(randomPipe())
  const own = join(folder, 'owner.sock')
  if (Buffer.byteLength(own) <= MAX_SOCKET_PATH) {
    rmSync(recordOf(folder), { force: true })
    return own
  }
  return record(join(runtimeFolder(env), `${sha256(folder).slice(0, 16)}.sock`))
}

/** The socket path of the data folder's owner, if there is one. */
export function findSocketPath(dataFolder: string): string {
  const record = recordOf(resolve(dataFolder))
  return statSync(record, { throwIfNoEntry: false })?.isFile()
    ? readFileSync(record, 'utf8').trim()
    : join(resolve(dataFolder), 'owner.sock')
}
