import { execFile } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { liesIn } from '../files/inside.ts'
import { findProgram } from '../programs/programs.ts'
import { STATUS } from '../sandbox/status.ts'

/** The parts of the machine that an agent may change and see. Absent: those of the user. */
export interface Confinement {
  /** Folders that it may change; all others are read-only, and the temporary ones empty. */
  readonly writable: readonly string[]
  /** Folders and files that it must not see: the data folder, the vault, tokens. */
  readonly hide: readonly string[]
}

const TRIAL_MS = 10_000
// A process namespace alone: whatever leaves its group or session, it ends with the first process of the namespace.
const PIDS = ['--unshare-pid', '--die-with-parent', '--new-session']

/** bubblewrap's arguments, up to the program. */
export function namespaceArguments(cwd: string, confinement?: Confinement): string[] {
  const status = ['--json-status-fd', String(STATUS), '--chdir', cwd, '--']
  return [...PIDS, ...mounts(confinement), '--proc', '/proc', ...status]
}

function mounts(confinement?: Confinement): string[] {
  if (confinement === undefined) return ['--dev-bind', '/', '/']
  const { writable, hide } = confinement
  const args = ['--ro-bind', '/', '/', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/var/tmp']
  for (const path of writable.filter(existsSync)) args.push('--bind', path, path)
  // Within a hidden folder nothing is left to hide.
  const outermost = (path: string) => !hide.some((other) => other !== path && liesIn(other, path))
  for (const path of hide.filter(existsSync).filter(outermost)) {
    if (statSync(path).isDirectory()) args.push('--tmpfs', path, '--remount-ro', path)
    else args.push('--ro-bind', '/dev/null', path)
  }
  return args
}

let found: Promise<string | null> | undefined

/** bubblewrap's path where it can make a process namespace here; else null. Tried once. */
export function namespaces(): Promise<string | null> {
  found ??= tried()
  return found
}

async function tried(): Promise<string | null> {
  if (process.platform !== 'linux') return null
  try {
    const bwrap = findProgram('bwrap')
    await promisify(execFile)(bwrap, [...PIDS, '--dev-bind', '/', '/', '--proc', '/proc', '--', '/bin/true'], {
      env: {},
      timeout: TRIAL_MS,
    })
    return bwrap
  } catch {
    return null
  }
}
