import { Command, CommanderError, Option } from 'commander'
import { ConfigError } from '../config.ts'
import { asProblem } from '../http/problem.ts'
import { TokenError } from '../http/token.ts'
import { OwnerError } from '../owner/backend.ts'
import { VERSION } from '../version.ts'
import { Refused } from './client.ts'
import { demoCommand } from './commands/demo.ts'
import { doctorCommand } from './commands/doctor.ts'
import { historyCommands } from './commands/history.ts'
import { kitOf } from './commands/kit.ts'
import { proveCommands } from './commands/prove.ts'
import { restoreCommand } from './commands/restore.ts'
import { runCommand } from './commands/run.ts'
import { runsCommands } from './commands/runs.ts'
import { secretsCommand } from './commands/secrets.ts'
import { serveCommand } from './commands/serve.ts'
import { sqlCommand } from './commands/sql.ts'
import { steerCommands } from './commands/steer.ts'
import { workerCommand } from './commands/worker.ts'
import type { CliIo, Format } from './context.ts'
import { CliError, EXIT, EXIT_HELP, UsageError } from './exit.ts'
import { safe } from './output/text.ts'

function programOf(io: CliIo, done: (code: number) => void): Command {
  const program = new Command('keepup')
    .description(
      'An event-sourced runtime for AI agents: every decision is a fact that can be replayed, proved and audited.',
    )
    .version(VERSION)
    .option('--data <folder>', 'the data folder (default: $XDG_DATA_HOME/keepup or ~/.local/share/keepup)')
    .option('--config <file>', 'settings (default: keepup.json in the data folder)')
    .option('--by <name>', 'who asks (default: the user of the operating system)')
    .addOption(
      new Option('-o, --output <format>', 'how data is shown').choices(['table', 'json', 'jsonl']).default('table'),
    )
    .addHelpText('after', EXIT_HELP)
    .showSuggestionAfterError()
    .configureOutput({ writeOut: (s) => void io.stdout.write(s), writeErr: (s) => void io.stderr.write(s) })
    .exitOverride()
  const kit = kitOf(io, done)
  runCommand(program, kit)
  steerCommands(program, kit)
  restoreCommand(program, kit)
  runsCommands(program, kit)
  historyCommands(program, kit)
  proveCommands(program, kit)
  secretsCommand(program, kit)
  sqlCommand(program, kit)
  serveCommand(program, kit)
  workerCommand(program, kit)
  doctorCommand(program, kit)
  demoCommand(program, kit)
  return program
}

/** `code`: stable, of what was refused; null where the message is all there is. */
interface Failure {
  readonly message: string
  readonly code: string | null
  readonly exitCode: number
}

/** What is said of a failure. */
function explain(error: unknown): Failure {
  const failure = (message: string, code: string | null = null, exitCode: number = EXIT.failed): Failure => ({
    ...{ message, code, exitCode },
  })
  if (error instanceof UsageError || error instanceof ConfigError) return failure(error.message, null, EXIT.usage)
  if (error instanceof CliError) return failure(error.message, null, error.exitCode)
  if (error instanceof Refused) {
    return failure(error.message, error.code, error.code === 'INVALID_REQUEST' ? EXIT.usage : EXIT.failed)
  }
  if (error instanceof OwnerError) return failure(error.message, error.code)
  if (error instanceof TokenError) return failure(error.message)
  const problem = asProblem(error)
  if (problem !== null) return failure(problem.message, problem.code)
  if ((error as NodeJS.ErrnoException | null)?.syscall === 'uv_cwd') {
    return failure('the current folder is gone; change to one that exists')
  }
  const unexpected = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return failure(`this should not have happened: ${unexpected}`)
}

/** Tells a failure on stderr: as a line, or as one JSON object where data is asked for as JSON. Gives the exit code. */
function tell(io: CliIo, format: Format, failed: Failure): number {
  const { message, code, exitCode } = failed
  const line = `keepup: ${safe(message)}${code === null ? '' : ` (${code})`}`
  io.stderr.write(`${format === 'table' ? line : JSON.stringify({ error: failed })}\n`)
  return exitCode
}

/** Runs a command line (without the program's name). Gives the exit code; throws nothing. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  let code: number = EXIT.done
  let program: Command | null = null
  try {
    program = programOf(io, (c) => {
      code = c
    })
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    // Commander has said it already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    return tell(io, program?.opts<{ output: Format }>().output ?? 'table', explain(error))
  }
}
