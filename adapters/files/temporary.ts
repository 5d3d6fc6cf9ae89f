import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A temporary folder with texts that erasures do not reach. */
export interface TemporaryFolder {
  readonly path: string
  /** Removes the folder. A second call has no effect. */
  remove(): void
}

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Makes a folder `keepup-<name>-<pid>-…` that only this user can enter. It is removed by `remove`, at the end of the process,
 * and at a signal that ends the process. A killed process leaves its folder; the next call with this name removes it.
 */
export function temporaryFolder(name: string): TemporaryFolder {
  removeLeftovers(name)
  const path = mkdtempSync(join(tmpdir(), `keepup-${name}-${process.pid}-`))
  const remove = () => {
    process.off('exit', remove)
    for (const signal of ENDING) process.off(signal, end)
    rmSync(path, { recursive: true, force: true })
  }
  const end = (signal: NodeJS.Signals) => {
    const isOurs = process.listenerCount(signal) === 1
    remove()
    // Without another listener the signal has its default effect.
    if (isOurs) process.kill(process.pid, signal)
  }
  process.once('exit', remove)
  for (const signal of ENDING) process.on(signal, end)
  return { path, remove }
}

function removeLeftovers(name: string): void {
  for (const entry of readdirSync(tmpdir())) {
    const pid = new RegExp(`^keepup-${name}-(\\d+)-`).exec(entry)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    try {
      rmSync(join(tmpdir(), entry), { recursive: true, force: true })
    } catch {
      // A folder of another user.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
