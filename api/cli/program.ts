import { Command, CommanderError, Option } from 'commander'
import { VERSION } from '../version.ts'
import { likeIt, register } from './commands/index.ts'
import { kitOf } from './commands/kit.ts'
import type { CliIo, Format } from './context.ts'
import { EXIT, EXIT_HELP } from './exit.ts'

function programOf(io: CliIo): Command {
  return new Command('keepup')
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
    .configureOutput({
      writeOut: (s) => void io.stdout.write(s),
      writeErr: (s) => void io.stderr.write(s),
      // Errors are printed like every other failure.
      outputError: () => {},
    })
    .exitOverride()
}

/** The message for an unknown command: similar names, or where to find the list. */
function meant(program: Command, message: string): string {
  const [said] = message.split('\n')
  const found = likeIt(program.args[0] ?? '')
  if (found.length > 0) return `${said}\n(Did you mean ${found.join(' or ')}?)`
  return `${said}; "--help" names those that there are`
}

/** Runs a command line (without the program's name). Returns the exit code. Never throws. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  let code: number = EXIT.done
  let program: Command | null = null
  try {
    program = programOf(io)
    const kit = kitOf({ io, likeIt, runCli: (words) => runCli(words, io) }, (c) => {
      code = c
    })
    await register(program, kit, program.parseOptions([...argv]).operands[0])
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    // Commander has already printed help or version.
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done
    if (error instanceof CommanderError && error.code.startsWith('commander.help')) return EXIT.usage
    const { explain, tell } = await import('./failure.ts')
    const failed = explain(error)
    const unknown = error instanceof CommanderError && error.code === 'commander.unknownCommand'
    const message = program !== null && unknown ? meant(program, failed.message) : failed.message
    return tell(io, program?.opts<{ output: Format }>().output ?? 'table', { ...failed, message })
  }
}
