import { runCli } from '../../../api/cli/program.ts'
import { quietPipe } from '../../../api/cli/quiet-pipe.ts'
import { openFakes } from './open.ts'

// The real command line over stand-ins.
quietPipe(process.stdout)
const { stdout, stderr, stdin, env } = process
process.exitCode = await runCli(process.argv.slice(2), {
  stdout,
  stderr,
  stdin,
  env,
  cwd: process.cwd(),
  open: openFakes,
})
