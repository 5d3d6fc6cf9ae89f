import {
  closeSync,
  existsSync,
  constants as fsConstants,
  fsync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
} from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { ToolError } from '../../domain/calls/errors.ts'
import { leadsOut } from './paths.ts'

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fsConstants
const syncHandle = promisify(fsync)

/**
 * A path that begins at an open directory remains valid when the directory moves. This replaces `openat`, which Node
 * lacks. Linux only.
 */
const OPEN_FILES = '/proc/self/fd'
export const hasOpenFiles = existsSync(OPEN_FILES)

/** The name of an entry, as text or as the bytes of the file system. */
export type EntryName = string | Buffer

/** An open directory of the workspace. */
export interface OpenFolder {
  /** The descriptor of the directory, for a path such as `/proc/<pid>/fd/<handle>`. */
  readonly handle: number
  /** The path of an entry, through the open directory. */
  at(name: EntryName): Buffer
  /** Whether the directory has an entry of this name, of any type. */
  has(name: EntryName): boolean
  /** Makes additions, renames and removals durable, including the folders created on the way. */
  sync(): Promise<void>
  /** Throws SANDBOX_VIOLATION if a link has replaced the directory. Call it after the last use of a path. */
  check(): void
}

/**
 * The open directories of a workspace. Each one is opened from its parent and never through a symbolic link. The
 * directories of the last path remain open, so that sorted paths open each directory once. Call `close` after use.
 */
export class OpenFolders {
  readonly #root: string
  readonly #open: { readonly name: Buffer; readonly handle: number }[] = []
  readonly #unsynced = new Set<number>()

  /** `root`: the real path of the workspace. */
  constructor(root: string) {
    this.#root = root
  }

  /**
   * Opens the folder at these segments. `create`: makes missing folders. `passing` is called with each folder on the
   * way and the next name, before the next folder is made or opened. Throws ELOOP or ENOTDIR if a part is a link or a
   * file.
   */
  enter(
    segments: readonly EntryName[],
    { create = false, passing }: { create?: boolean; passing?: (folder: OpenFolder, name: Buffer) => void } = {},
  ): OpenFolder {
    const names = segments.map((segment) => Buffer.from(segment as string))
    if (this.#open.length === 0) this.#push(Buffer.from(this.#root), this.#root, isHandle(this.#root) ? 0 : O_NOFOLLOW)
    const same = names.findIndex((name, i) => this.#open[i + 1]?.name.equals(name) !== true)
    this.#leave(1 + (same < 0 ? names.length : same))
    for (const [i, name] of names.entries()) {
      const parent = this.#folder(i)
      passing?.(parent, name)
      if (this.#open.length > i + 1) continue
      if (create) this.#make(parent, name)
      this.#push(name, parent.at(name))
    }
    const folder = this.#folder(names.length)
    folder.check()
    return folder
  }

  close(): void {
    this.#leave(0)
  }

  #push(name: Buffer, path: string | Buffer, noLinks = O_NOFOLLOW): void {
    this.#open.push({ name, handle: openSync(path, O_RDONLY | O_DIRECTORY | noLinks) })
  }

  #make(parent: OpenFolder, name: Buffer): void {
    try {
      mkdirSync(parent.at(name))
      this.#unsynced.add(parent.handle)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }

  #leave(depth: number): void {
    for (const { handle } of this.#open.splice(depth)) {
      this.#unsynced.delete(handle)
      closeSync(handle)
    }
  }

  /** The open folder at a depth; the root has depth 0. */
  #folder(depth: number): OpenFolder {
    const { handle } = this.#open[depth]!
    const unsynced = this.#unsynced
    const full = this.#open.slice(0, depth + 1).flatMap(({ name }, i) => (i === 0 ? [name] : [SLASH, name]))
    const path = hasOpenFiles ? Buffer.from(`${OPEN_FILES}/${handle}`) : Buffer.concat(full)
    const at = (name: EntryName) => Buffer.concat([path, SLASH, Buffer.from(name as string)])
    return {
      handle,
      at,
      has: (name) => lstatSync(at(name), { throwIfNoEntry: false }) !== undefined,
      sync: async () => {
        for (const made of new Set([handle, ...unsynced])) await syncHandle(made)
        unsynced.clear()
      },
      check: () => {
        if (hasOpenFiles || realpathSync(path, 'buffer').equals(path)) return
        throw new ToolError('SANDBOX_VIOLATION', `a link replaced ${path.toString()} while it was used; try again`)
      },
    }
  }
}

const SLASH = Buffer.from('/')

/** Whether a path is that of an open directory. The system shows such paths as links. */
const isHandle = (path: string): boolean => /^\/proc\/[^/]+\/fd\/\d+$/.test(path)

/**
 * The real segments of a path below `root` (a real path). Follows symbolic links inside the workspace, and resolves a
 * missing path by its nearest existing parent. Throws ToolError SANDBOX_VIOLATION for a path that leads out.
 */
export async function realSegments(root: string, path: string, segments: readonly string[]): Promise<string[]> {
  for (let known = segments.length; ; known--) {
    const candidate = join(root, ...segments.slice(0, known))
    let real: string
    try {
      real = await realpath(candidate)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if ((code !== 'ENOENT' && code !== 'ENOTDIR') || known === 0) throw error
      const dangling = await lstat(candidate).then(
        (stat) => stat.isSymbolicLink(),
        () => false,
      )
      if (dangling) throw leadsOut(path, 'is a symbolic link that leads nowhere')
      continue
    }
    const inside = relative(root, real)
    if (inside === '..' || inside.startsWith(`..${sep}`) || (inside !== '' && join(root, inside) !== real)) {
      throw leadsOut(path, 'leads out of the workspace through a symbolic link')
    }
    return [...inside.split(sep).filter((s) => s !== ''), ...segments.slice(known)]
  }
}

/** Runs `work` with the folder at real segments. See {@link OpenFolders.enter}. */
export async function withFolder<T>(
  root: string,
  segments: readonly EntryName[],
  options: Parameters<OpenFolders['enter']>[1],
  work: (folder: OpenFolder) => Promise<T>,
): Promise<T> {
  const folders = new OpenFolders(root)
  try {
    const folder = folders.enter(segments, options)
    const result = await work(folder)
    folder.check()
    return result
  } finally {
    folders.close()
  }
}

/** Opens a regular file for reading. Refuses links, devices, and pipes, which would block. */
export async function openRegular(folder: OpenFolder, name: string, path: string): Promise<FileHandle> {
  const refuse = (stat: { isFile(): boolean; isDirectory(): boolean }) => {
    if (stat.isDirectory()) throw new ToolError('CONFLICT', `${JSON.stringify(path)} is a directory`)
    if (!stat.isFile()) throw leadsOut(path, 'is not a regular file')
  }
  const before = await lstat(folder.at(name))
  refuse(before)
  const handle = await open(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    refuse(await handle.stat())
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}
