import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findProgram } from '../../processes/programs.ts'
import { STATUS } from '../../sandbox/status.ts'

const TRIAL_MS = 10_000
// A process namespace alone: whatever leaves its group or session, it ends with the first process of the namespace.
const PIDS = ['--unshare-pid', '--die-with-parent', '--new-session']
const UNCONFINED = [...PIDS, '--dev-bind', '/', '/', '--proc', '/proc']

/** bubblewrap's arguments, up to the program. `confining`: those that isolate it; absent: it sees the user's machine. */
export const namespaceArguments = (cwd: string, confining: readonly string[] = UNCONFINED): string[] => [
  ...confining,
  ...['--json-status-fd', String(STATUS), '--chdir', cwd, '--'],
]

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
    await promisify(execFile)(bwrap, [...UNCONFINED, '--', '/bin/true'], { env: {}, timeout: TRIAL_MS })
    return bwrap
  } catch {
    return null
  }
}
