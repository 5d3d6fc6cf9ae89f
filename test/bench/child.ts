import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The JSON that a program prints in a process of its own, which has opened nothing before. It runs as this one does. */
export async function inFreshProcess<T>(program: URL, given: readonly string[]): Promise<T> {
  const { stdout } = await run(process.execPath, [...process.execArgv, fileURLToPath(program), ...given])
  return JSON.parse(stdout) as T
}
