import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { AgentError } from '../../../domain/external/errors.ts'
import { inWorkspaces } from '../../processes/workspaces.ts'

/** Where programs are looked for; the members are those of the harness. */
interface Places {
  readonly workspace: string
  readonly env?: NodeJS.ProcessEnv
  readonly dataFolder?: string
  readonly program?: string
}

/** The program of an agent that works in a folder, or would in that of the options. Throws as {@link findAgent} does. */
export function programOf(
  program: string,
  { program: given, env = process.env, dataFolder, workspace }: Places,
  folder = workspace,
): string {
  // A program that is given is the caller's choice.
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
 * The absolute path of an agent's program: the first on the PATH that no agent can have written. Package managers put them
 * into `node_modules`, so that only workspaces are left out. Throws AgentError `Backend`.
 */
export function findAgent(
  program: string,
  env: NodeJS.ProcessEnv,
  writable: (realPath: string) => boolean = () => false,
): string {
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

/** A link in a workspace to a program outside of it was chosen there too. */
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
