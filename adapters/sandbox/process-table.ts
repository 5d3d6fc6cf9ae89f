import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { findProgram } from '../programs/programs.ts'

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** This run of the machine: process ids and start times mean nothing in another. */
export const bootId = (): string => read('/proc/sys/kernel/random/boot_id').trim()

/** When a process started, in whatever the system counts; null: there is none (a zombie counts as none). */
export function startOf(pid: number): string | null {
  if (process.platform !== 'linux') {
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
  // The name may hold anything, so count from its closing bracket: state is field 3, start time field 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return stat === '' || fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null)
}

/** Whether a process has this in the environment that it was started with; false where there is none, or it may not be read. */
export const hasInEnvironment = (pid: number, entry: string): boolean =>
  `\0${read(`/proc/${pid}/environ`)}\0`.includes(`\0${entry}\0`)

/** All processes but us, where the system lists them; `environment` is empty where it may not be read. */
export function processes(): { pid: number; environment: () => string }[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .map((pid) => ({ pid, environment: () => `${read(`/proc/${pid}/environ`)}\0` }))
}
