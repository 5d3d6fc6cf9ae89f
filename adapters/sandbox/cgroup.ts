import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The name of a command's group. Only a group of this name is killed. */
export const groupName = (id: string) => `keepup-${id}`

/**
 * Makes a control group for one command in keepup's own group. Returns its folder, or null without a writable cgroup v2
 * or on a kernel before 5.14. All processes in the group end together, even those that changed parent, session or
 * environment.
 */
export function makeCgroup(id: string): string | null {
  try {
    const own = ownCgroup()
    if (own === null) return null
    const folder = join(own.folder, groupName(id))
    mkdirSync(folder)
    if (existsSync(join(folder, 'cgroup.kill'))) return folder
    rmdirSync(folder)
  } catch {
    // Usually this user has no delegated group and no right to write here. Outside Linux the files do not exist.
  }
  return null
}

/** The folder of keepup's own control group (cgroup v2), or null. `proc`: the kernel's folder for this process. */
export function ownCgroup(proc = '/proc/self'): CgroupPlace | null {
  const [, path] = /^0::(.*)$/m.exec(readFileSync(join(proc, 'cgroup'), 'utf8')) ?? []
  const [, root, mount] =
    /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(readFileSync(join(proc, 'mountinfo'), 'utf8')) ?? []
  if (path === undefined || !root || !mount) return null
  const folder = cgroupFolder(path, root, mount)
  return folder === null ? null : { folder, mount }
}

export interface CgroupPlace {
  readonly folder: string
  /** The mount point of the control group file system. */
  readonly mount: string
}

/**
 * The folder of a group under a mount that shows the groups below `root`. Null if the mount does not show the group.
 */
export function cgroupFolder(path: string, root: string, mount: string): string | null {
  const inner = relative(root, path)
  return inner.startsWith('..') ? null : join(mount, inner)
}

/** The file of a group to which a process writes its id in order to join. */
export const doorOf = (cgroup: string): string => join(cgroup, 'cgroup.procs')

/** Kills all processes of a command's group and returns their number; 0 if the group no longer exists. */
export function killCgroup(cgroup: string, id: string): number {
  if (basename(cgroup) !== groupName(id)) return 0
  try {
    const inside = readFileSync(doorOf(cgroup), 'utf8').split('\n').length - 1
    writeFileSync(join(cgroup, 'cgroup.kill'), '1')
    return inside
  } catch {
    return 0
  }
}

const TRIES = 50

/** Removes a group when its last process has ended. Gives up after a second: an empty group does no harm. */
export async function removeCgroup(cgroup: string): Promise<void> {
  for (let tries = 0; tries < TRIES && existsSync(cgroup); tries++) {
    try {
      return rmdirSync(cgroup)
    } catch {
      await sleep(20)
    }
  }
}
