import { closeSync, constants, openSync, readlinkSync } from 'node:fs'
import { ToolError } from '../../domain/calls/errors.ts'
import { liesIn } from '../files/inside.ts'
import { hasOpenFiles } from '../workspace/open-folder.ts'

/**
 * An open folder. Another process can replace the folder's name, or a folder above, by a link at any time. A path
 * through the open folder follows no such link.
 */
export interface HeldFolder {
  /** Real path. */
  readonly path: string
  /** The path through the open folder. Does not change a path outside the folder. */
  at(path: string): string
  /** The inverse of `at`. */
  nameOf(path: string): string
  close(): void
}

/** Opens a folder by its real path. Throws ToolError SANDBOX_VIOLATION if a link or a file has replaced a part of it. */
export function holdFolder(path: string): HeldFolder {
  const handle = opened(path)
  const link = `/proc/self/fd/${handle}`
  const through = `${link}/.`
  const moved = (from: string, to: string) => (at: string) => (liesIn(from, at) ? `${to}${at.slice(from.length)}` : at)
  const folder = {
    path,
    at: hasOpenFiles ? moved(path, through) : (at: string) => at,
    nameOf: moved(through, path),
    close: () => closeSync(handle),
  }
  if (!hasOpenFiles || readlinkSync(link) === path) return folder
  folder.close()
  throw replaced(path)
}

/** Runs `work` with an open folder. Throws as {@link holdFolder} does. */
export async function holding<T>(path: string, work: (folder: HeldFolder) => Promise<T>): Promise<T> {
  const folder = holdFolder(path)
  try {
    return await work(folder)
  } finally {
    folder.close()
  }
}

function opened(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ELOOP' || code === 'ENOTDIR') throw replaced(path)
    throw new ToolError('EXECUTION_FAILED', `the folder ${path} cannot be opened: ${message}; put it back`, {
      cause: error,
      beforeEffect: true,
    })
  }
}

/** A process outside the sandbox, or of another sandbox, has replaced a folder during the start of a program. */
export const replaced = (path: string): ToolError =>
  new ToolError(
    'SANDBOX_VIOLATION',
    `another process replaced ${path}, or a folder in it, before the start; end that process, then try again`,
    { beforeEffect: true },
  )
