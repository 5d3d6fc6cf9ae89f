import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, relative } from 'node:path'

/** Searched before the PATH: an administrator fills these folders, while a PATH may name folders that agents write to. */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin', '/opt/homebrew/bin']

export interface ProgramSearch {
  /** Whether agents may write to this real path: true for every path in a workspace. */
  readonly writable?: (path: string) => boolean
  /** Default: the process's. */
  readonly env?: NodeJS.ProcessEnv
  /** Folders that are searched before the PATH. Default: the system's. */
  readonly system?: readonly string[]
}

/** A program that keepup needs was not found. `message` names what was passed over, and says what to do. */
export class ProgramMissing extends Error {
  override readonly name = 'ProgramMissing'
  readonly code = 'PROGRAM_MISSING'
  constructor(program: string, passedOver: readonly string[]) {
    const impostors = passedOver.length === 0 ? '' : `; passed over: ${passedOver.join(', ')}`
    super(
      `${program} was not found in the system's folders and on the PATH, outside of workspaces${impostors}. Install it ` +
        'with the package manager of the system',
    )
  }
}

/**
 * The absolute path of a program that keepup itself starts. Neither its folder nor its real file lies where an agent can
 * write: in a workspace, in `node_modules`, or in a folder that every user may change. Relative and empty entries of the
 * PATH do not count. Throws ProgramMissing.
 */
export function findProgram(name: string, search: ProgramSearch = {}): string {
  const { writable = () => false, env = process.env, system = SYSTEM_FOLDERS } = search
  const folders = [...system, ...(env.PATH ?? '').split(delimiter)].filter((folder) => isAbsolute(folder))
  const passedOver: string[] = []
  for (const folder of new Set(folders)) {
    const path = executableIn(folder, name)
    if (path === null) continue
    const fault = faultOf(path, writable) ?? faultOf(realpathSync.native(path), writable)
    if (fault === null) return path
    passedOver.push(`${join(folder, name)} (${fault})`)
  }
  throw new ProgramMissing(name, passedOver)
}

/** The program in the real folder. Its own name stays: a link such as busybox's decides by it what it is. */
function executableIn(folder: string, name: string): string | null {
  try {
    const path = join(realpathSync.native(folder), name)
    accessSync(path, constants.X_OK)
    return statSync(path).isFile() ? path : null
  } catch {
    return null
  }
}

function faultOf(path: string, writable: (path: string) => boolean): string | null {
  if (writable(path)) return 'lies in a workspace'
  if (path.split('/').includes('node_modules')) return 'lies in node_modules'
  for (let at = path; ; at = dirname(at)) {
    const { mode } = statSync(at)
    // In a sticky folder (/tmp) only the owner of an entry may replace it.
    if ((mode & 0o1002) === 0o002) return `every user can change ${at}`
    if (dirname(at) === at) return null
  }
}

/** Whether `path` is `folder` or lies in it. Both are real paths. */
export function liesIn(folder: string, path: string): boolean {
  const within = relative(folder, path)
  return within === '' || !(within === '..' || within.startsWith('../') || isAbsolute(within))
}
