import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { nameOf } from './cgroup.ts'

/**
 * The most processes (and threads) of a command. Memory is not bounded this way: programs reserve far more than they use.
 */
export const MAX_PROCESSES = 8_192

/**
 * Whether Linux exempts us from the limit of processes of a user (RLIMIT_NPROC), as it does the root of the machine; a root
 * that is another user outside of its user namespace is bound by it.
 */
export function isExempt(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  try {
    return /^\s*0\s+0\s/m.test(readFileSync('/proc/self/uid_map', 'utf8'))
  } catch {
    return true
  }
}

/**
 * Makes a control group that bounds the processes of one command; whatever the user, the kernel holds it. Returns its
 * folder, or null where none can be made: no `pids` controller, or no right to write there.
 */
export function makeLimit(id: string, most: number): string | null {
  const parent = groupWithLimits()
  if (parent === null) return null
  const folder = join(parent, nameOf(id))
  try {
    mkdirSync(folder)
    writeFileSync(join(folder, 'pids.max'), String(most))
    return folder
  } catch {
    if (existsSync(folder)) rmdirSync(folder)
    return null
  }
}

/** Whether such groups can be made here. */
export function canLimit(): boolean {
  const folder = makeLimit(`trial-${process.pid}`, MAX_PROCESSES)
  if (folder !== null) rmdirSync(folder)
  return folder !== null
}

/**
 * The folder of the nearest group, our own or one around it, whose children can have a limit of processes; null: there is
 * none. `proc`: what the kernel tells of us.
 */
export function groupWithLimits(proc = '/proc/self'): string | null {
  try {
    const own = readFileSync(join(proc, 'cgroup'), 'utf8')
    const mounts = readFileSync(join(proc, 'mountinfo'), 'utf8')
    const [, oldPath] = /^\d+:(?:[^:]*,)?pids(?:,[^:]*)?:(.*)$/m.exec(own) ?? []
    const old = /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup \S+ (?:\S*,)?pids(?:,\S*)?$/m.exec(mounts)
    if (oldPath !== undefined && old !== null) return within(oldPath, old)
    const [, path] = /^0::(.*)$/m.exec(own) ?? []
    const mount = /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(mounts)
    if (path === undefined || mount === null) return null
    for (let at = within(path, mount); at !== null; at = at === mount[2] ? null : dirname(at)) {
      const given = readFileSync(join(at, 'cgroup.subtree_control'), 'utf8').trim().split(' ')
      if (given.includes('pids')) return at
    }
  } catch {
    // No such files: not Linux, or without /proc.
  }
  return null
}

/** Where a group lies in the file system, by the mount that shows it. */
function within(path: string, [, root = '/', mount = '']: RegExpExecArray): string | null {
  const inner = relative(root, path)
  return inner.startsWith('..') ? null : join(mount, inner)
}
