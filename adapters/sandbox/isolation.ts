import { existsSync } from 'node:fs'
import type { Bubblewrap } from './find-bubblewrap.ts'
import type { Machine } from './machine.ts'
import { mountArguments } from './mounts.ts'
import type { Protected } from './repositories.ts'
import { sameFolders } from './same-folders.ts'

const ISOLATION = (
  '--unshare-user-try --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try ' +
  '--die-with-parent --new-session --cap-drop ALL'
).split(' ')

/** The files and the network that a confined program can use. */
interface Confined extends Protected, Pick<Bubblewrap, 'bounds' | 'hide'> {
  /** More absolute paths that the program can read. Default: none. */
  readonly readable?: readonly string[] | undefined
  readonly network: boolean
  readonly machine: Machine
  /** Mounts on top of all others. Default: none. */
  readonly last?: readonly string[] | undefined
}

/** Joins the control group in the first argument. */
export const ENTER = 'echo $$ > "$1" || exit 125; shift; exec "$@"'

/**
 * Limits the processes of all users except root. dash has `-p` instead of bash's `-u`. A stricter limit of the user
 * remains.
 */
export const withProcessLimit = (most: number) =>
  `ulimit -u ${most} 2>/dev/null || ulimit -p ${most} 2>/dev/null; exec "$@"`

/** bubblewrap's arguments that isolate a program, and the arguments that mount its files. */
export interface ConfinedArguments {
  readonly isolation: readonly string[]
  readonly mounts: readonly string[]
  /** A command that runs the program in its arguments if the mounts are the folders that keepup has looked into. */
  readonly guard: readonly string[]
}

export function confinedArguments(confined: Confined): ConfinedArguments {
  const { machine, folder, readOnly, sockets, hide, bounds, network, readable = [], last } = confined
  const workspace = folder?.path ?? null
  const mounts = mountArguments({ machine, workspace, readable, readOnly, sockets, hide, bounds, network, last })
  const guard = folder === null ? [] : sameFolders(folder, mounts)
  return { isolation: [...ISOLATION, ...(network ? [] : ['--unshare-net'])], mounts, guard }
}

const MAX_STARTS = 3

/**
 * Starts bubblewrap. A socket can vanish after the arguments were made, and bubblewrap then fails to mount its cover. In
 * that case, starts again with new arguments.
 */
export async function startConfined<T>(
  make: () => ConfinedArguments | Promise<ConfinedArguments>,
  start: (confined: ConfinedArguments) => Promise<T>,
): Promise<T> {
  for (let starts = 1; ; starts += 1) {
    const confined = await make()
    try {
      return await start(confined)
    } catch (error) {
      if (starts === MAX_STARTS || !lacksCovered(confined.mounts)) throw error
    }
  }
}

const lacksCovered = (mounts: readonly string[]): boolean =>
  mounts.some((argument, index) => argument === '/dev/null' && !existsSync(mounts[index + 1] as string))
