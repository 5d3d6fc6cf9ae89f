import { openServices } from '../keepup.ts'
import { calledAs } from './called-as.ts'
import { runCli } from './program.ts'
import { quietPipe } from './quiet-pipe.ts'

quietPipe(process.stdout)
quietPipe(process.stderr)
const { stdout, stderr, stdin, env } = process
process.exitCode = await runCli(process.argv.slice(2), {
  stdout,
  stderr,
  stdin,
  env,
  // Asked for where it is needed: it may be gone.
  get cwd() {
    return process.cwd()
  },
  open: openServices,
  program: calledAs(env, import.meta.url),
})
