import { ToolError } from '../../../domain/calls/errors.ts'
import { Problem } from '../../operations/problem.ts'

/** Errors of the file system if another process moves, replaces or removes folders while keepup works in them. */
const MOVED: ReadonlySet<string> = new Set([
  ...['ENOENT', 'ENOTDIR', 'ELOOP', 'EEXIST', 'ENOTEMPTY', 'EISDIR', 'EXDEV', 'ESTALE'],
])

/** Throws `FILES_CHANGED` for an error about folders that moved during a restore, and any other error unchanged. */
export function throwRestoreError(error: unknown): never {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  // An error of `spawn` is about a program.
  const isMoved = MOVED.has(code) && syscall !== undefined && !syscall.startsWith('spawn')
  const isGone = error instanceof ToolError && error.code === 'RESOURCE_NOT_FOUND'
  if (!isMoved && !isGone) throw error
  throw new Problem(
    'FILES_CHANGED',
    `another process moved or replaced folders of the workspace during the restore (${code}), so files may be half put ` +
      'back; end that process, then restore again',
    undefined,
    { cause: error },
  )
}
