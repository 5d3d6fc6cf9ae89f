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
import type { CliIo } from './context.ts'
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
  doctorCommand(program, kit)
  demoCommand(program, kit)
  return program
}

/** What is said of a failure, and the exit code. */
function explain(error: unknown): { text: string | null; code: number } {
  if (error instanceof CommanderError) {
    return { text: null, code: error.exitCode === 0 ? EXIT.done : EXIT.usage }
  }
  if (error instanceof UsageError || error instanceof ConfigError) return { text: error.message, code: EXIT.usage }
  if (error instanceof CliError) return { text: error.message, code: error.exitCode }
  if (error instanceof Refused) {
    return {
      text: `${error.message} (${error.code})`,
      code: error.code === 'INVALID_REQUEST' ? EXIT.usage : EXIT.failed,
    }
  }
  if (error instanceof OwnerError || error instanceof TokenError) return { text: error.message, code: EXIT.failed }
  const problem = asProblem(error)
  if (problem !== null) return { text: `${problem.message} (${problem.code})`, code: EXIT.failed }
  if ((error as NodeJS.ErrnoException | null)?.syscall === 'uv_cwd') {
    return { text: 'the current folder is gone; change to one that exists', code: EXIT.failed }
  }
  const unexpected = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { text: `this should not have happened: ${unexpected}`, code: EXIT.failed }
}

/** Runs a command line (without the program's name). Gives the exit code; throws nothing. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  let code: number = EXIT.done
  try {
    const program = programOf(io, (c) => {
      code = c
    })
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    const { text, code: failed } = explain(error)
    if (text !== null) io.stderr.write(`keepup: ${safe(text)}\n`)
    return failed
  }
}
