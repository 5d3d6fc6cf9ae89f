import { accessSync, constants, lstatSync, statSync } from 'node:fs'
import { basename, delimiter, isAbsolute, join } from 'node:path'
import { stepsTo } from './steps.ts'

/**
 * The folders to search before the PATH. Only an administrator can change them, while the PATH may contain folders that
 * agents can write.
 */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin', '/opt/homebrew/bin']

export interface ProgramSearch {
  /** Whether agents may write to this real path. True for every path in a workspace. */
  readonly writable?: (path: string) => boolean
  /** Default: the environment of the process. */
  readonly env?: NodeJS.ProcessEnv
  /** The folders to search before the PATH. Default: the system's. */
  readonly system?: readonly string[]
}

/** No usable program was found. `message` names the rejected candidates and the remedy. */
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
 * The absolute path of a program for keepup to start. Rejects candidates that an agent or another user can change: the
 * file, each link to it and each folder above must be outside workspaces and `node_modules`, belong to a trusted user,
 * and be writable only by trusted users and groups. Ignores relative and empty entries of the PATH. All folders of the
 * result are real. Throws ProgramMissing.
 */
export function findProgram(name: string, search: ProgramSearch = {}): string {
  const { writable = () => false, env = process.env, system = SYSTEM_FOLDERS } = search
  const folders = [...system, ...(env.PATH ?? '').split(delimiter)].filter((folder) => isAbsolute(folder))
  const passedOver: string[] = []
  for (const folder of new Set(folders)) {
    const path = join(folder, name)
    if (!isExecutable(path)) continue
    const steps = [...stepsTo(path)].map(({ at }) => at)
    const fault = steps.map((step) => faultOf(step, writable)).find((found) => found !== null)
    // Use the last step with this name, because a program such as busybox acts by its name.
    if (fault === undefined) return steps.findLast((step) => basename(step) === name) as string
    passedOver.push(`${path} (${fault})`)
  }
  throw new ProgramMissing(name, passedOver)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function faultOf(path: string, writable: (path: string) => boolean): string | null {
  if (writable(path)) return 'lies in a workspace'
  if (path.split('/').includes('node_modules')) return 'lies in node_modules'
  const { mode, uid, gid } = lstatSync(path)
  if (process.getuid === undefined) return null
  const root = statSync('/')
  if (![0, root.uid, process.getuid()].includes(uid)) return `another user owns ${path}`
  // In a sticky folder (/tmp) only the owner of an entry may replace it. The mode of a link has no effect.
  if ((mode & 0o1000) !== 0 || lstatSync(path).isSymbolicLink()) return null
  if ((mode & 0o002) !== 0) return `every user can change ${path}`
  const administrators = process.platform === 'darwin' ? [0, 80] : [0]
  const trusted = [...administrators, root.gid, process.getgid?.()].includes(gid)
  return (mode & 0o020) !== 0 && !trusted ? `a group of users can change ${path}` : null
}
