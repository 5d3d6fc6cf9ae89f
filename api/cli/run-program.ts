import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { OpenServices } from '../process/owner/connect.ts'
import { calledAs } from './invocation.ts'
import { runCli } from './program.ts'
import { quietPipe } from './quiet-pipe.ts'

/** Runs the command line of this process. `open` opens the services. */
export async function runHere(open: OpenServices): Promise<void> {
  quietPipe(process)
  const { stdout, stderr, stdin, env } = process
  // A terminal of unknown size reports 0 columns and rows.
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.isTTY) {
      stream.columns ||= 80
      stream.rows ||= 24
    }
  }
  process.exitCode = await runCli(process.argv.slice(2), {
    stdout,
    stderr,
    stdin,
    env,
    // Read on demand: the working directory may have been deleted.
    get cwd() {
      return process.cwd()
    },
    open,
    get program() {
      const file = realpathSync(fileURLToPath(new URL('./keepup.js', import.meta.url)))
      return calledAs({ env, cwd: process.cwd(), file, node: process.execPath })
    },
  })
}
