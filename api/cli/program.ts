import { Command, CommanderError, Option } from 'commander'
import { VERSION } from '../version.ts'
import { meantBy } from './commands/groups.ts'
import { isCommand, likeIt, register, transposed } from './commands/index.ts'
import { kitOf, SUGGESTIONS } from './commands/kit.ts'
import type { CliIo, Format } from './context.ts'
import { EXIT, UsageError } from './exit.ts'
import { helpText, overview } from './help.ts'

function programOf(io: CliIo): Command {
  return new Command('keepup')
    .description(
      'An event-sourced runtime for AI agents: every decision is a fact that can be replayed, proved and audited.',
    )
    .version(VERSION)
    .option('--data <folder>', 'the data folder (default: $XDG_DATA_HOME/keepup or ~/.local/share/keepup)')
    .option('--config <file>', 'settings (default: keepup.json in the data folder)')
    .option('-q, --quiet', 'show no progress on the terminal')
    .option('--by <name>', 'who asks (default: the user of the operating system)')
    .addOption(
      new Option('-o, --output <format>', 'how data is shown')
        .choices(['table', 'json', 'jsonl', 'csv'])
        .default('table'),
    )
    .helpCommand(false)
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (s) => void io.stdout.write(s),
      writeErr: (s) => void io.stderr.write(s),
      // Errors are printed like every other failure.
      outputError: () => {},
    })
    .exitOverride()
}

/** The error for an unknown command: the command that does what the word means, similar names, or where to find the list. */
function unknownCommand(word: string): UsageError {
  const said = `unknown command '${word}'`
  const found = meantBy(word, [...transposed(word), ...likeIt(word)]).slice(0, SUGGESTIONS)
  if (found.length > 0) return new UsageError(`${said}\n(Did you mean ${found.join(' or ')}?)`)
  return new UsageError(`${said}; "--help" names those that there are`)
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
    const [word, ...others] = program.parseOptions([...argv]).operands
    if (word === undefined) {
      const root = program
      root.helpInformation = () => overview(root)
      // Prints version and help, and refuses unknown options.
      await root.parseAsync([...argv], { from: 'user' })
      io.stderr.write(overview(root))
      return EXIT.usage
    }
    if (word === 'help') {
      const text =
        others.length > 1 && !isSetUp(others) ? null : await helpText(program, kit, others.join(' ') || undefined)
      if (text === null) return await runCli([...others, '--help'], io)
      io.stdout.write(text)
      return EXIT.done
    }
    if (!isCommand(word)) throw unknownCommand(word)
    await register(program, kit, [word])
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    // Commander has already printed help or version.
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done
    if (error instanceof CommanderError && error.code.startsWith('commander.help')) return EXIT.usage
    const { explain, tell } = await import('./failure.ts')
    return tell(io, program?.opts<{ output: Format }>().output ?? 'table', explain(error))
  }
}

/** The only group whose name has two words. */
const isSetUp = (words: readonly string[]): boolean => words.join(' ') === 'set up'
