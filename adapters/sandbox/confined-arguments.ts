import { homedir, userInfo } from 'node:os'
import { searchPath } from './environment.ts'
import type { Bubblewrap } from './found-bubblewrap.ts'
import { mountArguments } from './mounts.ts'
import type { Protected } from './repositories.ts'

const ISOLATION = (
  '--unshare-user-try --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try ' +
  '--die-with-parent --new-session --cap-drop ALL'
).split(' ')

/** What a confined program may see and change. */
export interface Confined extends Protected, Pick<Bubblewrap, 'bounds' | 'hide'> {
  /** Real path of the only folder that it can change; null: none. */
  readonly workspace: string | null
  /** Further absolute paths that it can read, in folders that are otherwise empty. */
  readonly readable?: readonly string[]
  readonly network: boolean
  /** Our environment, for the home and the PATH. */
  readonly env: NodeJS.ProcessEnv
}

/** Joins the control group of the first argument. */
export const ENTER = 'echo $$ > "$1" || exit 125; shift; exec "$@"'

/** Limits the processes of all users except root. dash has `-p` for bash's `-u`. A stricter limit of the user stays. */
export const limited = (most: number) => `ulimit -u ${most} 2>/dev/null || ulimit -p ${most} 2>/dev/null; exec "$@"`

export const homeOf = (ours: NodeJS.ProcessEnv): string => ours.HOME || homedir()

/** The arguments of bubblewrap that isolate a program, and those that mount what it sees. */
export function confinedArguments(confined: Confined): { isolation: readonly string[]; mounts: readonly string[] } {
  const { env, workspace, readOnly, links, hide, bounds, network, readable = [] } = confined
  const mounts = mountArguments({
    home: homeOf(env),
    otherHomes: systemHomes(),
    node: process.execPath,
    path: searchPath(env),
    workspace,
    readable,
    readOnly,
    links,
    hide,
    bounds,
    network,
    root: process.getuid?.() === 0,
  })
  return { isolation: [...ISOLATION, ...(network ? [] : ['--unshare-net'])], mounts }
}

/** The home in the system's list of users. A user without an entry, as in containers, has none. */
function systemHomes(): string[] {
  try {
    return [userInfo().homedir]
  } catch {
    return []
  }
}
