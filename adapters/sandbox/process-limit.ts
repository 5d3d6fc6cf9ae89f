import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { platformOf } from '../../domain/platform.ts'
import { cgroupFolder, groupName, ownCgroup } from './cgroup.ts'

/** The most processes and threads of a command. Memory has no such limit, because programs reserve far more than they use. */
export const MAX_PROCESSES = 8_192

/**
 * Whether Linux exempts this process from a user's process limit (RLIMIT_NPROC). It exempts the root of the machine,
 * but not the root of a user namespace that belongs to another user outside.
 */
export function isExempt(): boolean {
  if (!platformOf(process.platform).hasNamespaces || process.getuid?.() !== 0) return false
  try {
    return /^\s*0\s+0\s/m.test(readFileSync('/proc/self/uid_map', 'utf8'))
  } catch {
    return true
  }
}

/**
 * Makes a control group with a process limit for one command. The kernel enforces it for every user. Returns its
 * folder, or null without a `pids` controller or without the right to write.
 */
export function makeLimit(id: string, most: number): string | null {
  const parent = groupWithLimits()
  if (parent === null) return null
  const folder = join(parent, groupName(id))
  try {
    mkdirSync(folder)
    writeFileSync(join(folder, 'pids.max'), String(most))
    return folder
  } catch {
    if (existsSync(folder)) rmdirSync(folder)
    return null
  }
}

/** Whether {@link makeLimit} works on this machine. */
export function canLimit(): boolean {
  const folder = makeLimit(`trial-${process.pid}`, MAX_PROCESSES)
  if (folder !== null) rmdirSync(folder)
  return folder !== null
}

/**
 * The folder of the nearest group, from keepup's own group upwards, whose children can have a process limit; null if
 * there is none. `proc`: the kernel's folder for this process.
 */
export function groupWithLimits(proc = '/proc/self'): string | null {
  try {
    const own = readFileSync(join(proc, 'cgroup'), 'utf8')
    const mounts = readFileSync(join(proc, 'mountinfo'), 'utf8')
    const [, oldPath] = /^\d+:(?:[^:]*,)?pids(?:,[^:]*)?:(.*)$/m.exec(own) ?? []
    const [, root, mount] = /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup \S+ (?:\S*,)?pids(?:,\S*)?$/m.exec(mounts) ?? []
    if (oldPath !== undefined && root && mount) return cgroupFolder(oldPath, root, mount)
    const place = ownCgroup(proc)
    for (let at = place?.folder; at !== undefined; at = at === place?.mount ? undefined : dirname(at)) {
      const given = readFileSync(join(at, 'cgroup.subtree_control'), 'utf8').trim().split(' ')
      if (given.includes('pids')) return at
    }
  } catch {
    // The files are missing: this is not Linux, or /proc is not mounted.
  }
  return null
}
