import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { withoutForeign } from './descriptors.ts'

/**
 * Starts a program in a new process group, with the streams of `stdio` as its only descriptors. `env` is all of its
 * environment. Throws what `spawn` throws, and ToolError as `withoutForeign` does; other failures are emitted.
 */
export function startGroup(
  file: string,
  args: readonly string[],
  stdio: readonly ('ignore' | 'pipe')[],
  options: Omit<SpawnOptions, 'stdio' | 'detached'>,
): ChildProcess {
  return withoutForeign(stdio, (all) => spawn(file, args, { ...options, stdio: all, detached: true }))
}

/** The running programs, and how to end each of them. */
const running = new Map<ChildProcess, () => void>()
const endAll = () => {
  for (const end of running.values()) end()
}

/** Calls `end` if keepup exits first. Returns a function to call when the program has ended. */
export function endWithUs(child: ChildProcess, end: () => void): () => void {
  if (running.size === 0) process.on('exit', endAll)
  running.set(child, end)
  return () => {
    running.delete(child)
    if (running.size === 0) process.off('exit', endAll)
  }
}

/** Signals a process, or a process group by a negative id. Does nothing if it no longer exists. */
export function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
