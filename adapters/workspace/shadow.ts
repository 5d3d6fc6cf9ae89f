import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../../domain/calls/errors.ts'
import { headOf } from '../../domain/calls/truncate.ts'
import { noRoomIn } from '../../domain/log/errors.ts'
import type { FileChange, Versions } from '../../domain/ports/index.ts'
import { resolveBytes } from '../../domain/secrets/redactor.ts'
import { Mutex } from '../../domain/stream/runtime/concurrency.ts'
import { makeFolder } from '../files/folders.ts'
import { Lru } from '../memory/lru.ts'
import { checkout, inTheWay } from './checkout.ts'
import { GitFailure, type GitPlace, git } from './git.ts'
import {
  blobId,
  readBlobs,
  redactedBlobs,
  storeBlob,
  storeBlobs,
  type VersionSecrets,
  versionsDamaged,
} from './shadow-repository.ts'
import { leftAside } from './unversioned.ts'
import {
  changedPaths,
  type RawPath,
  rawBytes,
  rawOf,
  shownPath,
  type VersionedFile,
  worktreeReader,
} from './worktree.ts'

interface TreeEntry {
  readonly mode: VersionedFile['mode']
  readonly id: string
}
interface Difference {
  readonly path: RawPath
  readonly change: FileChange['change']
  readonly to: TreeEntry | null
}

/** Only the last command that writes the index makes it durable. */
const INDEX_LATER = ['core.fsync=none']
/** The most files without times in the index. Git reads such files again at each snapshot. */
const MAX_UNSTAMPED = 32
/** The most changed files to store without git. */
const FEW = 16
const NO_OBJECT = '0'.repeat(64)

/**
 * The last version that this process took of each folder. While nothing changes, the next version is the same, even
 * after the folder is opened again.
 */
const lasts = new Lru<string, { readonly tree: string; readonly index: string }>(256)

/**
 * The Versions port over the bare git repository of shadow-repository.ts. Calls that change files run one at a time.
 */
export function shadowVersions(place: GitPlace, secrets: VersionSecrets, warn: (text: string) => void): Versions {
  const redacted = redactedBlobs(place)
  const aside = leftAside(warn)
  const key = `${place.repository}\0${place.index}\0${place.workTree}`
  let unstamped = 0
  const mutex = new Mutex()
  const alone = <T>(work: () => Promise<T>): Promise<T> => mutex.run(work)

  const snapshot = async (): Promise<string> => {
    try {
      return await snapshotFrom(place.index)
    } catch (error) {
      if (!isDamage(error)) throw error
    }
    // The index may name files that the repository has lost. An empty index stores all files again.
    try {
      return await snapshotFrom(`${place.index}.none`)
    } catch (error) {
      throw isDamage(error) ? versionsDamaged(place.repository, error) : error
    }
  }

  /** Whether the index is unchanged and the repository still has the version. */
  const isThere = async ({ tree, index }: { tree: string; index: string }, from: string): Promise<boolean> =>
    index === (await stampOf(from)) && existsSync(join(place.repository, 'objects', tree.slice(0, 2), tree.slice(2)))

  /** `from`: the index to start with. A missing index counts as empty. */
  const snapshotFrom = async (from: string): Promise<string> => {
    const paths = await changedPaths({ ...place, index: from })
    aside.lookAnew()
    const last = lasts.get(key)
    if (paths.length === 0 && last !== undefined && (await isThere(last, from))) return last.tree
    // Git works on a copy, so that a crash leaves neither a half-written index nor git's lock.
    const index = `${place.index}.${randomBytes(6).toString('hex')}`
    const draft = { ...place, index }
    try {
      await copyFile(from, index).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
      const settings = INDEX_LATER
      if (paths.length > 0) {
        await git(draft, ['update-index', '-z', '--index-info'], { input: [await record(paths)], settings })
      }
      // A refresh records times and sizes, so that git need not read these files again. Exit code 1: a redacted file
      // differs.
      unstamped += paths.length
      if (unstamped > MAX_UNSTAMPED) {
        await git(draft, ['update-index', '-q', '--refresh'], { allowed: [0, 1], settings })
        unstamped = 0
      }
      const tree = (await git(draft, ['write-tree'])).toString('latin1').trim()
      await rename(index, place.index)
      lasts.set(key, { tree, index: await stampOf(place.index) })
      return tree
    } finally {
      await rm(index, { force: true })
    }
  }

  /** Stores the files at the paths. Returns the index lines for them. */
  const record = async (paths: readonly RawPath[]): Promise<Buffer> => {
    const reader = worktreeReader(place.workTree)
    const gone: string[] = []
    const present: string[] = []
    const hidden: string[] = []
    const references = new Map<string, string>()
    const blobs = async function* () {
      for (const path of paths) {
        const name = rawBytes(path)
        const shown = secrets.redactBytes(name).value
        const file = shown === name ? await reader.read(path) : null
        if (shown !== name) aside.secretName(path, shown)
        if (file === 'unreadable') {
          // The file's index entry remains unchanged.
          aside.unreadable(path)
          continue
        }
        if (!file) {
          gone.push(`0 ${NO_OBJECT}\t${path}\0`)
          continue
        }
        const { value: bytes, references: made } = secrets.redactBytes(file.bytes)
        const id = blobId(bytes)
        if (bytes !== file.bytes) hidden.push(id)
        for (const [ref, value] of made) references.set(ref, value)
        present.push(`${file.mode} ${id} 0\t${path}\0`)
        yield bytes
      }
    }
    try {
      if (paths.length > FEW) await storeBlobs(place, blobs())
      else for await (const bytes of blobs()) await storeBlob(place, bytes)
    } finally {
      reader.close()
    }
    await secrets.remember(references)
    await redacted.add(hidden)
    // Removals come first: a folder may have replaced a file.
    return Buffer.from([...gone, ...present].join(''), 'latin1')
  }

  const differences = async (from: string, to: string): Promise<Difference[]> => {
    await refuseUnknown(from)
    await refuseUnknown(to)
    const out = await git(place, ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', from, to])
    const parts = out.toString('latin1').split('\0').slice(0, -1)
    const found: Difference[] = []
    for (let at = 0; at + 1 < parts.length; at += 2) {
      const [, mode, , id, letter] = (parts[at] as string).split(' ')
      const change = letter === 'A' ? 'added' : letter === 'D' ? 'deleted' : 'modified'
      const target = { mode, id } as TreeEntry
      found.push({ path: parts[at + 1] as RawPath, change, to: change === 'deleted' ? null : target })
    }
    return found
  }

  const refuseUnknown = async (tree: string): Promise<void> => {
    const known =
      /^[0-9a-f]{64}$/.test(tree) &&
      (await git(place, ['cat-file', '-t', tree], { allowed: [0, 128] })).toString('latin1') === 'tree\n'
    if (!known)
      throw new ToolError(
        'RESOURCE_NOT_FOUND',
        `the files of this step are lost: ${place.repository} has no version ${JSON.stringify(tree)}; where it was ` +
          'replaced, restore it from a backup',
      )
  }

  /** Rejects with SECRET_UNAVAILABLE before the first write, so that a restore is complete or has no effect. */
  const refuseUnresolvable = async (targets: readonly TreeEntry[]): Promise<void> => {
    const ids = new Set<string>()
    for (const { id } of targets) if (await redacted.has(id)) ids.add(id)
    for await (const bytes of readBlobs(place, ids)) reveal(bytes)
  }

  const reveal = (bytes: Uint8Array): Uint8Array =>
    resolveBytes(bytes, (ref) => {
      const value = secrets.resolve(ref)
      if (value !== null) return value
      throw new ToolError(
        'SECRET_UNAVAILABLE',
        `${ref} in a version cannot be resolved: the vault has no value for it; restore the vault from a backup`,
      )
    })

  const writeAll = async (folder: ReturnType<typeof checkout>, files: readonly { path: RawPath; to: TreeEntry }[]) => {
    const blobs = readBlobs(
      place,
      files.map(({ to }) => to.id),
    )[Symbol.asyncIterator]()
    try {
      for (const { path, to } of files) {
        const stored = (await blobs.next()).value as Buffer
        const bytes = (await redacted.has(to.id)) ? reveal(stored) : stored
        await folder.write(path, { mode: to.mode, bytes })
      }
    } finally {
      await blobs.return?.(undefined)
    }
  }

  const restore = async (tree: string): Promise<{ replaced: string }> => {
    const replaced = await snapshot()
    const found = await differences(replaced, tree)
    const removed = found.filter(({ to }) => to === null)
    const written = found.filter((item): item is Difference & { to: TreeEntry } => item.to !== null)
    await refuseUnresolvable(written.map(({ to }) => to))
    const unkept = found.find(({ path }) => aside.has(path))
    if (unkept) throw inTheWay(unkept.path)
    const folder = checkout(place.workTree)
    const versioned = new Set(found.filter(({ change }) => change !== 'added').map(({ path }) => path))
    for (const { path } of written) await folder.free(path, (at) => versioned.has(at))
    for (const { path } of removed) await folder.remove(path)
    await writeAll(folder, written)
    return { replaced }
  }

  const materialize = async (tree: string, folder: string): Promise<void> => {
    const files = await differences(await emptyTree(), tree)
    const written = files as (Difference & { to: TreeEntry })[]
    await refuseUnresolvable(written.map(({ to }) => to))
    makeFolder(folder, 0o777)
    if ((await readdir(folder)).length > 0) throw new ToolError('CONFLICT', `${folder} is not empty; name a new folder`)
    await writeAll(checkout(folder), written)
  }

  const emptyTree = async () => (await git(place, ['mktree'])).toString('latin1').trim()

  return {
    snapshot: () => alone(snapshot),
    restore: (tree) => alone(() => restore(tree)),
    materialize: (tree, folder) => alone(() => materialize(tree, folder)),
    changes: async (from, to) =>
      (await differences(from, to)).map(({ path, change }) => ({ path: shownPath(path), change })),
    diff: async (from, to, maxBytes) => {
      await refuseUnknown(from)
      await refuseUnknown(to)
      const args = ['diff-tree', '-r', '-p', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color', from, to]
      // With an index git may read a file of the workspace instead of its equal blob, through a folder that has become a
      // link.
      const out = await git({ ...place, index: `${place.index}.none` }, args, { maxBytes })
      if (out.length <= maxBytes) return out.toString('utf8').toWellFormed()
      const whole = headOf(out.toString('utf8').toWellFormed(), maxBytes)
      return `${whole.slice(0, whole.lastIndexOf('\n') + 1)}[… cut off at ${maxBytes} bytes …]\n`
    },
    read: async (tree, path) => {
      await refuseUnknown(tree)
      const listed = await git(place, ['ls-tree', '-z', tree, '--', path])
      const [, id, name] = /^\d+ blob ([0-9a-f]{64})\t([^\0]*)\0$/.exec(listed.toString('latin1')) ?? []
      if (id === undefined || name !== rawOf(path)) return null
      for await (const bytes of readBlobs(place, [id])) return bytes
      return null
    },
  }
}

/** The system's messages for limits and missing rights of this process. */
const DENIED = /Too many open files|Cannot allocate memory|out of memory|Read-only file system|Permission denied/i

/** Whether an error indicates damage. Time limits, full disks and missing rights do not. */
function isDamage(error: unknown): error is Error {
  if (error instanceof GitFailure) return error.exit !== null && noRoomIn(error) === null && !DENIED.test(error.said)
  // keepup's own write found a file instead of a folder, or a folder instead of a file.
  return error instanceof Error && 'code' in error && ['ENOTDIR', 'EEXIST', 'EISDIR'].includes(String(error.code))
}

/** A value that changes when another process writes the index. */
const stampOf = (index: string): Promise<string> =>
  stat(index, { bigint: true }).then(
    ({ ino, mtimeNs, size }) => `${ino}:${mtimeNs}:${size}`,
    () => '',
  )
