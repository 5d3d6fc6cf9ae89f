import { liesIn } from '../../../adapters/files/inside.ts'
import { ToolError } from '../../../domain/calls/errors.ts'
import { Problem } from '../../operations/problem.ts'

/** Errors of the file system if another process moves, replaces or removes folders while keepup works in them. */
const MOVED: ReadonlySet<string> = new Set([
  ...['ENOENT', 'ENOTDIR', 'ELOOP', 'EEXIST', 'ENOTEMPTY', 'EISDIR', 'EXDEV', 'ESTALE'],
])

/**
 * Throws `FILES_CHANGED` for an error about folders of a workspace that moved during a restore, and any other error
 * unchanged. `workspace`: its real path. `begun`: false before the restore writes the first file.
 */
export function throwRestoreError(error: unknown, workspace: string, begun: boolean): never {
  const { code = '', syscall, path } = error as NodeJS.ErrnoException
  // An error of `spawn` is about a program.
  const isMoved = MOVED.has(code) && syscall !== undefined && !syscall.startsWith('spawn')
  // Most paths of files begin at an open folder in /proc/self/fd, so the path of the workspace is not in them.
  const name = path === undefined ? '/' : String(path)
  const isInside = liesIn(workspace, name) || name.startsWith('/proc/self/fd/')
  const isGone = error instanceof ToolError && error.code === 'RESOURCE_NOT_FOUND'
  if (!(isMoved && isInside) && !isGone) throw error
  throw new Problem(
    'FILES_CHANGED',
    `another process moved or replaced folders of the workspace during the restore (${code}: ${liesIn(workspace, name) ? name : workspace}), ` +
      `so ${begun ? 'files may be half put back' : 'nothing was changed'}; end that process, then restore again`,
    undefined,
    { cause: error },
  )
}
