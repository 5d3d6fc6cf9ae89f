import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { AgentError } from '../../../domain/external/errors.ts'
import { needsPosix, platformOf } from '../../../domain/platform.ts'
import { inWorkspaces } from '../../processes/workspaces.ts'

/** The settings of a search for programs. The harness options explain the members. */
interface Places {
  readonly workspace: string
  readonly env?: NodeJS.ProcessEnv
  readonly dataFolder?: string
  readonly program?: string
}

/** The absolute path of an agent's program. `folder`: the agent's working folder. Throws like {@link findAgent}. */
export function programOf(
  program: string,
  { program: given, env = process.env, dataFolder, workspace }: Places,
  folder = workspace,
): string {
  // A configured program is the caller's choice and may be in a workspace.
  return given === undefined ? findAgent(program, env, inWorkspaces(realOf(folder), dataFolder)) : findAgent(given, env)
}

const realOf = (folder: string): string => {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

/**
 * The absolute path of an agent's program: the first on the PATH that no agent can have written. Only workspaces are
 * excluded, because package managers install programs in `node_modules`. Throws AgentError `Backend`.
 */
export function findAgent(
  program: string,
  env: NodeJS.ProcessEnv,
  writable: (realPath: string) => boolean = () => false,
): string {
  if (!platformOf(process.platform).hasShell) throw new AgentError('Backend', needsPosix('another agent'))
  const paths = isAbsolute(program) ? [program] : onPath(program, env)
  const programs = paths.filter(isProgram)
  const found = programs.find((path) => !namesOf(path).some(writable))
  if (found !== undefined) return found
  if (programs[0] !== undefined)
    throw new AgentError(
      'Backend',
      `${programs[0]} lies in a folder where agents may write, such as the current one; call keepup from another folder, or install the program elsewhere`,
    )
  throw new AgentError('Backend', `the agent's program was not found on the PATH, outside of workspaces; install it`)
}

/** A link in a workspace is also excluded, even if it points to a program outside. */
const namesOf = (path: string) => [realpathSync(path), join(realpathSync(dirname(path)), basename(path))]

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
