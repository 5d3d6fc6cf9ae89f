import { realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { ToolError } from '../../domain/calls/errors.ts'
import { platformOf } from '../../domain/platform.ts'

const MAX_PATH_BYTES = 4_096

/**
 * The segments of a workspace path, relative or absolute. An absolute path may name the workspace by its real path
 * (`root`) or through a symbolic link. Throws like {@link segmentsOf}.
 */
export async function segmentsBeneath(root: string, path: string): Promise<string[]> {
  if (!isAbsolute(path)) return segmentsOf(path)
  checkText(path)
  const named = within(root, resolve(path))
  if (named !== null) return named
  const missing: string[] = []
  for (let known = resolve(path); ; known = dirname(known)) {
    const real = await realpath(known).catch(() => null)
    const inside = real === null ? null : within(root, real)
    if (inside !== null) return [...inside, ...missing]
    if (real !== null || dirname(known) === known) throw leadsOut(path, 'leads out of the workspace')
    missing.unshift(basename(known))
  }
}

/** The segments of an absolute path below a folder. Null: the path is elsewhere. */
function within(root: string, path: string): string[] | null {
  const inside = relative(root, path)
  if (inside === '..' || inside.startsWith(`..${sep}`) || (inside !== '' && join(root, inside) !== path)) return null
  return inside.split(sep).filter((segment) => segment !== '')
}

function checkText(path: string): void {
  if (path.includes('\0') || !path.isWellFormed()) {
    throw new ToolError('INVALID_ARGUMENTS', 'a path must be well-formed text without NUL')
  }
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new ToolError('INVALID_ARGUMENTS', `a path must not be longer than ${MAX_PATH_BYTES} bytes`)
  }
}

/**
 * The segments of a relative, `/`-separated workspace path. Resolves `.` and `..` without the file system. Throws
 * ToolError SANDBOX_VIOLATION for a path that leads out, and INVALID_ARGUMENTS for text that is not a path.
 */
function segmentsOf(path: string): string[] {
  checkText(path)
  if (isAbsolute(path) || (!platformOf(process.platform).opensFolders && /[\\:]/.test(path))) {
    throw leadsOut(path, 'is absolute; give it relative to the workspace')
  }
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) throw leadsOut(path, 'leads out of the workspace')
  }
  return segments
}

export const leadsOut = (path: string, why: string): ToolError =>
  new ToolError('SANDBOX_VIOLATION', `${JSON.stringify(path)} ${why}`, { beforeEffect: true })

/** Throws SANDBOX_VIOLATION for a path in `.git`, because hooks and settings there later run outside any sandbox. */
export function refuseGitInternals(path: string, segments: readonly string[]): void {
  if (segments.some((segment) => segment.toLowerCase() === '.git')) {
    throw leadsOut(path, 'lies in .git, which tools may read but not write')
  }
}

/** Translates an error of the file system into a ToolError. */
export function fileFailure(error: unknown, path: string): ToolError {
  if (error instanceof ToolError) return error
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const shown = JSON.stringify(path)
  switch (code) {
    case 'ENOENT':
      return new ToolError('RESOURCE_NOT_FOUND', `${shown} does not exist`, { cause: error })
    case 'ENOTDIR':
      return new ToolError('CONFLICT', `a part of ${shown} is not a directory`, { cause: error })
    case 'EISDIR':
      return new ToolError('CONFLICT', `${shown} is a directory`, { cause: error })
    case 'ELOOP':
      return leadsOut(path, 'goes through a symbolic link that leads nowhere, or that has just been put there')
    case 'ENXIO':
      return leadsOut(path, 'is not a regular file')
    case 'ENAMETOOLONG':
      return new ToolError('INVALID_ARGUMENTS', `${shown} has a name that is too long`, { cause: error })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new ToolError(
        'EXECUTION_FAILED',
        `${shown} could not be used: ${code}; give the user of keepup the right to, or start a run in another folder (--workspace)`,
        { cause: error },
      )
    default:
      return new ToolError('EXECUTION_FAILED', `${shown} could not be used: ${code || String(error)}`, { cause: error })
  }
}
