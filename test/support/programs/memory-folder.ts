import { accessSync, constants, readFileSync, statfsSync } from 'node:fs'

const SHARED_MEMORY = '/dev/shm'
/** Bytes that the folders of all tests of a run need at the most, with a margin. */
const NEEDED_BYTES = 4 * 2 ** 30

/**
 * The folder for temporary files of tests: the one that TMPDIR names, else Linux's file system in memory, where a commit
 * waits for no disk. Null: the system's default, because the memory is too small or its programs cannot be started.
 */
export function memoryFolder(env: NodeJS.ProcessEnv = process.env): string | null {
  if (env.TMPDIR !== undefined) return env.TMPDIR
  try {
    accessSync(SHARED_MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(SHARED_MEMORY)
    return bavail * bsize >= NEEDED_BYTES && !forbidsPrograms() ? SHARED_MEMORY : null
  } catch {
    return null
  }
}

function forbidsPrograms(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const options = mounts.map((line) => line.split(' ')).find(([, place]) => place === SHARED_MEMORY)?.[3]
  return options === undefined || options.split(',').includes('noexec')
}
