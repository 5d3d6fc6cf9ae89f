import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { AgentError } from '../../domain/external/errors.ts'

/**
 * The absolute path of an agent's program: the first on the PATH that no agent can have written. Package managers put them
 * into `node_modules`, so that only workspaces are left out. Throws AgentError `Backend`.
 */
export function findAgent(
  program: string,
  env: NodeJS.ProcessEnv,
  writable: (realPath: string) => boolean = () => false,
): string {
  const paths = isAbsolute(program) ? [program] : onPath(program, env)
  const found = paths.find((path) => isProgram(path) && !writable(realpathSync(path)))
  if (found !== undefined) return found
  throw new AgentError('Backend', `the agent's program was not found on the PATH, outside of workspaces; install it`)
}

const onPath = (program: string, { PATH = '' }: NodeJS.ProcessEnv): string[] =>
  PATH.split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, program))

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
