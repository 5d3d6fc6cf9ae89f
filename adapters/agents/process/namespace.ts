import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { platformOf } from '../../../domain/platform.ts'
import { findProgram } from '../../processes/programs.ts'
import { STATUS } from '../../sandbox/status.ts'

const TRIAL_MS = 10_000
// Isolates only the process ids. When the first process of the namespace ends, all others end, even outside its group
// or session.
const PIDS = ['--unshare-pid', '--die-with-parent', '--new-session']
const UNCONFINED = [...PIDS, '--dev-bind', '/', '/', '--proc', '/proc']

/**
 * bubblewrap's arguments, up to the program. `confining`: the arguments that isolate the agent. Absent: the agent sees
 * the user's machine.
 */
export const namespaceArguments = (cwd: string, confining: readonly string[] = UNCONFINED): string[] => [
  ...confining,
  ...['--json-status-fd', String(STATUS), '--chdir', cwd, '--'],
]

let found: Promise<string | null> | undefined

/** bubblewrap's path if it can make a process namespace on this machine, else null. Tried once per process. */
export function namespaces(): Promise<string | null> {
  found ??= tried()
  return found
}

async function tried(): Promise<string | null> {
  if (!platformOf(process.platform).hasNamespaces) return null
  try {
    const bwrap = findProgram('bwrap')
    await promisify(execFile)(bwrap, [...UNCONFINED, '--', '/bin/true'], { env: {}, timeout: TRIAL_MS })
    return bwrap
  } catch {
    return null
  }
}
