import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { OpenServices } from '../process/owner/connect.ts'
import { calledAs } from './invocation.ts'
import { runCli } from './program.ts'
import { quietPipe } from './quiet-pipe.ts'

/** The command of this process, over what `open` opens. */
export async function runHere(open: OpenServices): Promise<void> {
  quietPipe(process.stdout, 'standard output')
  quietPipe(process.stderr, 'standard error')
  const { stdout, stderr, stdin, env } = process
  // A terminal that does not know its size says that it has none.
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
    // Asked for where it is needed: it may be gone.
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
