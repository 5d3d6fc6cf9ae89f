import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { platformOf } from '../../domain/platform.ts'
import { findProgram } from '../processes/programs.ts'

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** The id of this boot of the machine. Process ids and start times are valid only within one boot. */
export const bootId = (): string => read('/proc/sys/kernel/random/boot_id').trim()

/** The start time of a process in the system's unit. Null: the process does not exist or is a zombie. */
export function startOf(pid: number): string | null {
  if (!platformOf(process.platform).hasNamespaces) {
    try {
      return (
        execFileSync(findProgram('ps'), ['-o', 'lstart=', '-p', String(pid)], {
          encoding: 'utf8',
          env: { LC_ALL: 'C' },
        }).trim() || null
      )
    } catch {
      return null
    }
  }
  const stat = read(`/proc/${pid}/stat`)
  // The name may contain any character, so the fields count from its closing bracket: state is field 3, start time
  // field 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return stat === '' || fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null)
}

/** Whether a process started with this entry in its environment. False if the process has ended or is not readable. */
export const hasInEnvironment = (pid: number, entry: string): boolean =>
  `\0${read(`/proc/${pid}/environ`)}\0`.includes(`\0${entry}\0`)

/** All other processes, on Linux only. `environment` is empty if it is not readable. */
export function processes(): { pid: number; environment: () => string }[] {
  if (!platformOf(process.platform).hasNamespaces) return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .map((pid) => ({ pid, environment: () => `${read(`/proc/${pid}/environ`)}\0` }))
}
