import type { Bubblewrap } from './found-bubblewrap.ts'
import type { Machine } from './machine.ts'
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
  /** Further absolute paths that it can read. Default: none. */
  readonly readable?: readonly string[] | undefined
  readonly network: boolean
  readonly machine: Machine
  /** Mounts on top of all others. Default: none. */
  readonly last?: readonly string[] | undefined
}

/** Joins the control group of the first argument. */
export const ENTER = 'echo $$ > "$1" || exit 125; shift; exec "$@"'

/** Limits the processes of all users except root. dash has `-p` for bash's `-u`. A stricter limit of the user stays. */
export const limited = (most: number) => `ulimit -u ${most} 2>/dev/null || ulimit -p ${most} 2>/dev/null; exec "$@"`

/** The arguments of bubblewrap that isolate a program, and those that mount what it sees. */
export function confinedArguments(confined: Confined): { isolation: readonly string[]; mounts: readonly string[] } {
  const { machine, workspace, readOnly, hide, bounds, network, readable = [], last } = confined
  const mounts = mountArguments({ machine, workspace, readable, readOnly, hide, bounds, network, last })
  return { isolation: [...ISOLATION, ...(network ? [] : ['--unshare-net'])], mounts }
}
