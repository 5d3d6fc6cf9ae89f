import type { Command } from 'commander'
import { type Kit, mayMean } from './kit.ts'

type Register = (program: Command, kit: Kit) => void

/**
 * The commands of one file: their names in order, and the file, which is loaded only for these commands. The name of a
 * subcommand starts with the name of its group.
 */
export interface CommandFile {
  readonly names: readonly string[]
  readonly load: () => Promise<Register>
}

const of = (names: readonly string[], load: () => Promise<Register>): CommandFile => ({ names, load })

const under = (group: string, ...names: readonly string[]) => [group, ...names.map((name) => `${group} ${name}`)]

const STEER = ['input', 'approve', 'reject', 'resolve', 'cancel', 'pause', 'resume', 'step', 'erase']
const HISTORY = ['events', 'tail', 'replay', 'diff', 'export']
const DOCS = under(
  'docs',
  ...['list', 'create', 'show', 'edit', 'history', 'blame', 'diff', 'verify', 'erase', 'export'],
)

/** All commands in the order of the help text. */
export const COMMANDS: readonly CommandFile[] = [
  of(['run'], async () => (await import('./run.ts')).runCommand),
  of(STEER, async () => (await import('./steer.ts')).steerCommands),
  of(['restore'], async () => (await import('./restore.ts')).restoreCommand),
  of([...under('runs', 'list', 'show'), 'approvals'], async () => (await import('./runs.ts')).runsCommands),
  of(['tree'], async () => (await import('./tree.ts')).treeCommand),
  of(HISTORY, async () => (await import('./history.ts')).historyCommands),
  of(['result'], async () => (await import('./result.ts')).resultCommand),
  of(['transcript'], async () => (await import('./transcript.ts')).transcriptCommand),
  of(under('artifacts', 'list', 'show'), async () => (await import('./artifacts.ts')).artifactsCommand),
  of(DOCS, async () => (await import('./docs.ts')).docsCommand),
  of(
    under('memory', 'list', 'show', 'correct', 'forget', 'verify'),
    async () => (await import('./memory.ts')).memoryCommand,
  ),
  of(
    under('stores', 'list', 'show', 'get', 'erase', 'verify', 'export'),
    async () => (await import('./stores.ts')).storesCommand,
  ),
  of(
    under('messages', 'list', 'send', 'publish', 'respond'),
    async () => (await import('./messages.ts')).messagesCommand,
  ),
  of(['cost'], async () => (await import('./cost.ts')).costCommand),
  of(['numbers'], async () => (await import('./numbers.ts')).numbersCommand),
  of(['request'], async () => (await import('./request.ts')).requestCommand),
  of(['context', 'expand'], async () => (await import('./context.ts')).contextCommands),
  of(['permissions', 'revoke'], async () => (await import('./permissions.ts')).permissionCommands),
  of(['plan'], async () => (await import('./plan.ts')).planCommand),
  of(['models', 'explain'], async () => (await import('./models.ts')).modelsCommands),
  of(['verify', 'fork', 'rebuild', 'backup'], async () => (await import('./prove.ts')).proveCommands),
  of(['prove'], async () => (await import('./prove-event.ts')).proveCommand),
  of(under('anchor', 'list', 'add', 'remove', 'now'), async () => (await import('./anchor.ts')).anchorCommand),
  of(['release'], async () => (await import('./release.ts')).releaseCommand),
  of(['repair'], async () => (await import('./repair.ts')).repairCommand),
  of(['release-calls'], async () => (await import('./release-calls.ts')).releaseCallsCommand),
  of(under('roles', 'list', 'show', 'check', 'schema'), async () => (await import('./roles.ts')).rolesCommand),
  of(under('policy', 'check'), async () => (await import('./policy.ts')).policyCommand),
  of(under('tools', 'list'), async () => (await import('./tools.ts')).toolsCommand),
  of(under('agents', 'list', 'check'), async () => (await import('./agents.ts')).agentsCommand),
  of(['acp'], async () => (await import('./acp.ts')).acpCommand),
  of(['mcp'], async () => (await import('./mcp.ts')).mcpCommand),
  of(
    under('secrets', 'set', 'list', 'remove', 'rotate-key'),
    async () => (await import('./secrets.ts')).secretsCommand,
  ),
  of(['sql'], async () => (await import('./sql.ts')).sqlCommand),
  of(
    under('streams', 'list', 'events', 'verify', 'erase', 'export'),
    async () => (await import('./streams.ts')).streamsCommand,
  ),
  of(['call'], async () => (await import('./call.ts')).callCommand),
  of(['serve'], async () => (await import('./serve.ts')).serveCommand),
  of(['open'], async () => (await import('./open.ts')).openCommand),
  of(['worker'], async () => (await import('./worker.ts')).workerCommand),
  of(['auditors'], async () => (await import('./auditors.ts')).auditorsCommand),
  of(['doctor'], async () => (await import('./doctor.ts')).doctorCommand),
  of(['demo'], async () => (await import('./demo.ts')).demoCommand),
  of(['completion'], async () => (await import('./completion.ts')).completionCommand),
]

/** Commands that need all other commands. */
const LOOK_AT_ALL: readonly string[] = ['completion']

/**
 * Registers the commands for a word: those of its file, or all commands if the word is not a command, for example for
 * help.
 */
export async function register(program: Command, kit: Kit, word: string | undefined): Promise<void> {
  const own = COMMANDS.filter(({ names }) => word !== undefined && names.includes(word))
  const needed = own.length === 0 || LOOK_AT_ALL.includes(word!) ? COMMANDS : own
  for (const add of await Promise.all(needed.map(({ load }) => load()))) add(program, kit)
}

/** Command names similar to a word. Subcommands also match without the name of their group. */
export const likeIt = (word: string): string[] =>
  COMMANDS.flatMap(({ names }) => names).filter((name) => mayMean(word, name.slice(name.indexOf(' ') + 1)))
