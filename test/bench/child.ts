import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The JSON that a program prints in a process of its own, which has opened nothing before. `flags`: of Node; default: those of this one. */
export async function inFreshProcess<T>(
  program: URL,
  given: readonly string[],
  flags: readonly string[] = process.execArgv,
): Promise<T> {
  const { stdout } = await run(process.execPath, [...flags, fileURLToPath(program), ...given])
  return JSON.parse(stdout) as T
}
