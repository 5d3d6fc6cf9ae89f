import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The name of a command's group: what is removed must bear it. */
export const nameOf = (id: string) => `keepup-${id}`

/**
 * Makes a control group for one command beneath our own, and returns its folder; null where there is no cgroup v2 that
 * we may write to, or a kernel before 5.14. What is in it is ended as a whole, whatever it did to its parents, its session
 * and its environment.
 */
export function makeCgroup(id: string): string | null {
  try {
    const own = ownCgroup()
    if (own === null) return null
    const folder = join(own, nameOf(id))
    mkdirSync(folder)
    if (existsSync(join(folder, 'cgroup.kill'))) return folder
    rmdirSync(folder)
  } catch {
    // Not ours to write, which is the rule for a user without a delegated group.
  }
  return null
}

/** Where our own group lies in the file system. */
function ownCgroup(): string | null {
  if (process.platform !== 'linux') return null
  const path = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
  const mount = /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'utf8'))
  if (path === undefined || !mount?.[1] || !mount[2]) return null
  const within = relative(mount[1], path)
  return within.startsWith('..') ? null : join(mount[2], within)
}

/** What a shell writes its own id to, in order to go in. */
export const doorOf = (cgroup: string): string => join(cgroup, 'cgroup.procs')

/** Ends all in a command's group by force; one that is gone is fine. Returns how many there were. */
export function killCgroup(cgroup: string, id: string): number {
  if (basename(cgroup) !== nameOf(id)) return 0
  try {
    const inside = readFileSync(doorOf(cgroup), 'utf8').split('\n').length - 1
    writeFileSync(join(cgroup, 'cgroup.kill'), '1')
    return inside
  } catch {
    return 0
  }
}

const TRIES = 50

/** Removes a group as soon as the last of it has ended. One that stays is empty and in nobody's way. */
export async function removeCgroup(cgroup: string): Promise<void> {
  for (let tries = 0; tries < TRIES && existsSync(cgroup); tries++) {
    try {
      return rmdirSync(cgroup)
    } catch {
      await sleep(20)
    }
  }
}
