import { statSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import { ToolError } from '../../domain/calls/errors.ts'

/**
 * The start folder of a command, resolved without the file system; the sandbox decides about links. Throws ToolError
 * SANDBOX_VIOLATION or RESOURCE_NOT_FOUND.
 */
export function workingFolder(workspace: string, cwd: string): string {
  const inside = normalize(cwd === '' ? '.' : cwd)
  if (isAbsolute(inside) || inside === '..' || inside.startsWith('../') || inside.includes('\0')) {
    throw new ToolError('SANDBOX_VIOLATION', `the folder ${JSON.stringify(cwd)} leads out of the workspace`, {
      beforeEffect: true,
    })
  }
  const folder = join(workspace, inside)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder
  throw new ToolError('RESOURCE_NOT_FOUND', `there is no folder ${JSON.stringify(cwd)} to run in`, {
    beforeEffect: true,
  })
}
