import { Command, CommanderError, Option } from 'commander'
import { VERSION } from '../version.ts'
import { acpCommand } from './commands/acp.ts'
import { agentsCommand } from './commands/agents.ts'
import { artifactsCommand } from './commands/artifacts.ts'
import { auditorsCommand } from './commands/auditors.ts'
import { completionCommand } from './commands/completion.ts'
import { contextCommands } from './commands/context.ts'
import { costCommand } from './commands/cost.ts'
import { demoCommand } from './commands/demo.ts'
import { docsCommand } from './commands/docs.ts'
import { doctorCommand } from './commands/doctor.ts'
import { historyCommands } from './commands/history.ts'
import { kitOf, likeIt } from './commands/kit.ts'
import { mcpCommand } from './commands/mcp.ts'
import { memoryCommand } from './commands/memory.ts'
import { messagesCommand } from './commands/messages.ts'
import { modelsCommands } from './commands/models.ts'
import { numbersCommand } from './commands/numbers.ts'
import { openCommand } from './commands/open.ts'
import { planCommand } from './commands/plan.ts'
import { policyCommand } from './commands/policy.ts'
import { proveCommands } from './commands/prove.ts'
import { releaseCommand } from './commands/release.ts'
import { releaseCallsCommand } from './commands/release-calls.ts'
import { repairCommand } from './commands/repair.ts'
import { requestCommand } from './commands/request.ts'
import { restoreCommand } from './commands/restore.ts'
import { resultCommand } from './commands/result.ts'
import { rolesCommand } from './commands/roles.ts'
import { runCommand } from './commands/run.ts'
import { runsCommands } from './commands/runs.ts'
import { secretsCommand } from './commands/secrets.ts'
import { serveCommand } from './commands/serve.ts'
import { sqlCommand } from './commands/sql.ts'
import { steerCommands } from './commands/steer.ts'
import { toolsCommand } from './commands/tools.ts'
import { transcriptCommand } from './commands/transcript.ts'
import { treeCommand } from './commands/tree.ts'
import { workerCommand } from './commands/worker.ts'
import type { CliIo, Format } from './context.ts'
import { EXIT, EXIT_HELP } from './exit.ts'
import { explain, tell } from './failure.ts'

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
    .configureOutput({
      writeOut: (s) => void io.stdout.write(s),
      writeErr: (s) => void io.stderr.write(s),
      // Told like every other failure.
      outputError: () => {},
    })
    .exitOverride()
  const kit = kitOf(io, done)
  runCommand(program, kit)
  steerCommands(program, kit)
  restoreCommand(program, kit)
  runsCommands(program, kit)
  treeCommand(program, kit)
  historyCommands(program, kit)
  resultCommand(program, kit)
  transcriptCommand(program, kit)
  artifactsCommand(program, kit)
  docsCommand(program, kit)
  memoryCommand(program, kit)
  messagesCommand(program, kit)
  costCommand(program, kit)
  numbersCommand(program, kit)
  requestCommand(program, kit)
  contextCommands(program, kit)
  planCommand(program, kit)
  modelsCommands(program, kit)
  proveCommands(program, kit)
  releaseCommand(program, kit)
  repairCommand(program, kit)
  releaseCallsCommand(program, kit)
  rolesCommand(program, kit)
  policyCommand(program, kit)
  toolsCommand(program, kit)
  agentsCommand(program, kit)
  acpCommand(program, kit)
  mcpCommand(program, kit)
  secretsCommand(program, kit)
  sqlCommand(program, kit)
  serveCommand(program, kit)
  openCommand(program, kit)
  workerCommand(program, kit)
  auditorsCommand(program, kit)
  doctorCommand(program, kit)
  demoCommand(program, kit)
  completionCommand(program, kit)
  return program
}

/** Of a command that there is not: what may have been meant, or where they stand. */
function meant(program: Command, message: string): string {
  const [said] = message.split('\n')
  const found = likeIt(program, program.args[0] ?? '')
  if (found.length > 0) return `${said}\n(Did you mean ${found.join(' or ')}?)`
  return `${said}; "--help" names those that there are`
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
    // Help and version have been shown already.
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done
    if (error instanceof CommanderError && error.code.startsWith('commander.help')) return EXIT.usage
    const failed = explain(error)
    const unknown = error instanceof CommanderError && error.code === 'commander.unknownCommand'
    const message = program !== null && unknown ? meant(program, failed.message) : failed.message
    return tell(io, program?.opts<{ output: Format }>().output ?? 'table', { ...failed, message })
  }
}
