import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { ToolError } from '../../domain/calls/errors.ts'
import type { HeldFolder } from './held-folder.ts'

const AT_ONCE = 64
/** The time limit of a walk, in ms. */
const LIMIT_MS = 30_000

export interface WalkOptions {
  /** Called with each folder and its entries. Returns the entries to enter. */
  readonly visit: (folder: string, entries: readonly Dirent[]) => readonly Dirent[] | Promise<readonly Dirent[]>
  /** Called with each folder that this user may not read. Default: the folder is skipped. */
  readonly unreadable?: (folder: string) => void
  /** In ms. Default: 30 s. */
  readonly limitMs?: number | undefined
}

/**
 * Visits a folder and every folder below it, without following links. A path is a text with one character per byte,
 * because a name need not be UTF-8. Rejects with ToolError EXECUTION_FAILED, before any effect, after the time limit.
 */
export async function walk(root: HeldFolder, { visit, unreadable, limitMs = LIMIT_MS }: WalkOptions): Promise<void> {
  const end = performance.now() + limitMs
  const folders = [byteText(root.path)]
  for (let some = folders.splice(0, AT_ONCE); some.length > 0; some = folders.splice(-AT_ONCE)) {
    if (performance.now() > end) throw tooLong(root.path, limitMs)
    const inner = await Promise.all(
      some.map(async (folder) => {
        const entries = await entriesOf(root, folder, unreadable)
        return (await visit(folder, entries)).map(({ name }) => `${folder}/${name}`)
      }),
    )
    for (const found of inner) folders.push(...found)
  }
}

/** A path as a text with one character per byte. */
export const byteText = (path: string): string => Buffer.from(path, 'utf8').toString('latin1')
export const bytesOf = (path: string): Buffer => Buffer.from(path, 'latin1')
/** The path of such a text through the open folder that contains it. */
export const bytesAt = (root: HeldFolder, path: string): Buffer =>
  bytesOf(byteText(root.at(root.path)) + path.slice(byteText(root.path).length))

/**
 * The entries of a folder. Empty if the folder was removed since it was listed, or if its path is too long for Linux.
 */
async function entriesOf(root: HeldFolder, folder: string, unreadable?: (folder: string) => void): Promise<Dirent[]> {
  try {
    return await readdir(bytesAt(root, folder), { withFileTypes: true, encoding: 'latin1' })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM') unreadable?.(folder)
    else if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'ENAMETOOLONG') throw error
    return []
  }
}

const tooLong = (root: string, limitMs: number): ToolError =>
  new ToolError(
    'EXECUTION_FAILED',
    `the search of ${root} for git repositories and unsafe files takes more than ${limitMs / 1000} s, so that a command could ` +
      'not be confined; name a smaller workspace',
    { beforeEffect: true },
  )
