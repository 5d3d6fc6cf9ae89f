import type { Command } from 'commander'
import { isTransposed } from '../../operations/text/spelling.ts'
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
const HISTORY = ['events', 'tail', 'replay', 'diff']
const DOCS = under(
  'docs',
  ...['list', 'create', 'show', 'edit', 'history', 'blame', 'diff'],
  ...['comments', 'comment', 'suggest', 'reply', 'resolve', 'accept', 'refuse', 'verify', 'erase', 'export'],
)

/** All commands in the order of the help text. */
export const COMMANDS: readonly CommandFile[] = [
  of(['run'], async () => (await import('./run/run.ts')).runCommand),
  of(STEER, async () => (await import('./run/steer.ts')).steerCommands),
  of(['restore'], async () => (await import('./data/restore.ts')).restoreCommand),
  of(
    [...under('runs', 'list', 'show', 'tag', 'untag', 'notes', 'note', 'unnote'), 'approvals'],
    async () => (await import('./look/runs.ts')).runsCommands,
  ),
  of(['search'], async () => (await import('./look/search.ts')).searchCommand),
  of(['tree'], async () => (await import('./look/tree.ts')).treeCommand),
  of(HISTORY, async () => (await import('./look/history.ts')).historyCommands),
  of(['export'], async () => (await import('./data/export.ts')).exportCommand),
  of(['result'], async () => (await import('./look/result.ts')).resultCommand),
  of(['transcript'], async () => (await import('./look/transcript.ts')).transcriptCommand),
  of(under('artifacts', 'list', 'show'), async () => (await import('./look/artifacts.ts')).artifactsCommand),
  of(DOCS, async () => (await import('./data/docs.ts')).docsCommand),
  of(
    under('memory', 'list', 'show', 'correct', 'forget', 'verify'),
    async () => (await import('./data/memory.ts')).memoryCommand,
  ),
  of(
    under('stores', 'list', 'show', 'get', 'erase', 'verify', 'export'),
    async () => (await import('./data/stores.ts')).storesCommand,
  ),
  of(
    under('messages', 'list', 'send', 'publish', 'respond'),
    async () => (await import('./run/messages.ts')).messagesCommand,
  ),
  of(['cost'], async () => (await import('./look/cost.ts')).costCommand),
  of(['numbers'], async () => (await import('./look/numbers.ts')).numbersCommand),
  of(['request'], async () => (await import('./look/request.ts')).requestCommand),
  of(['context', 'expand'], async () => (await import('./look/context.ts')).contextCommands),
  of(
    under(
      'access',
      'init',
      'show',
      'separation',
      'approvers',
      'me',
      'list',
      'add',
      'remove',
      'grant',
      'take',
      'link',
      'unlink',
      'key',
      'keys',
      'revoke',
      'report',
    ),
    async () => (await import('./rules/access.ts')).accessCommand,
  ),
  of(['decisions'], async () => (await import('./look/decisions.ts')).decisionsCommand),
  of(
    [...under('retention', 'show', 'set', 'sweep'), ...under('hold', 'list', 'set', 'lift')],
    async () => (await import('./rules/keeping.ts')).keepingCommands,
  ),
  of(['permissions', 'revoke'], async () => (await import('./rules/permissions.ts')).permissionCommands),
  of(['plan'], async () => (await import('./look/plan.ts')).planCommand),
  of(['models', 'explain'], async () => (await import('./look/models.ts')).modelsCommands),
  of(['verify', 'fork', 'rebuild', 'backup'], async () => (await import('./prove/prove.ts')).proveCommands),
  of(['drill'], async () => (await import('./prove/drill.ts')).drillCommand),
  of(['trace'], async () => (await import('./look/trace.ts')).traceCommand),
  of(['telemetry'], async () => (await import('./look/telemetry.ts')).telemetryCommand),
  of(['prove'], async () => (await import('./prove/prove-event.ts')).proveCommand),
  of(['pack'], async () => (await import('./prove/pack.ts')).packCommand),
  of(under('anchor', 'list', 'add', 'remove', 'now'), async () => (await import('./prove/anchor.ts')).anchorCommand),
  of(under('witness', 'key', 'list', 'add', 'remove'), async () => (await import('./prove/witness.ts')).witnessCommand),
  of(under('webhooks', 'list', 'test'), async () => (await import('./look/webhooks.ts')).webhooksCommand),
  of(
    ['consume', ...under('consumers', 'list', 'remove')],
    async () => (await import('./data/consumers.ts')).consumerCommands,
  ),
  of(['release'], async () => (await import('./prove/release.ts')).releaseCommand),
  of(['repair'], async () => (await import('./prove/repair.ts')).repairCommand),
  of(['release-calls'], async () => (await import('./run/release-calls.ts')).releaseCallsCommand),
  of(under('roles', 'list', 'show', 'check', 'schema'), async () => (await import('./rules/roles.ts')).rolesCommand),
  of(under('policy', 'check'), async () => (await import('./rules/policy.ts')).policyCommand),
  of(under('tools', 'list'), async () => (await import('./rules/tools.ts')).toolsCommand),
  of(['continue'], async () => (await import('./run/continue.ts')).continueCommand),
  of(under('agents', 'list', 'check'), async () => (await import('./run/agents.ts')).agentsCommand),
  of(['acp'], async () => (await import('./run/acp.ts')).acpCommand),
  of(['mcp'], async () => (await import('./run/mcp.ts')).mcpCommand),
  of(
    under('secrets', 'set', 'list', 'remove', 'rotate-key'),
    async () => (await import('./data/secrets.ts')).secretsCommand,
  ),
  of(['ask'], async () => (await import('./look/ask.ts')).askCommand),
  of(['sql'], async () => (await import('./data/sql.ts')).sqlCommand),
  of(
    under('streams', 'list', 'events', 'verify', 'erase', 'export'),
    async () => (await import('./data/streams.ts')).streamsCommand,
  ),
  of(['call'], async () => (await import('./call.ts')).callCommand),
  of(['serve'], async () => (await import('./run/serve.ts')).serveCommand),
  of(['open'], async () => (await import('./look/open.ts')).openCommand),
  of(['worker'], async () => (await import('./run/worker.ts')).workerCommand),
  of(['auditors'], async () => (await import('./data/auditors.ts')).auditorsCommand),
  of(['doctor'], async () => (await import('./doctor.ts')).doctorCommand),
  of(['init', 'upgrade'], async () => (await import('./set-up.ts')).setUpCommands),
  of(['demo'], async () => (await import('./run/demo.ts')).demoCommand),
  of(['completion', 'man'], async () => (await import('./completion.ts')).completionCommands),
]

/** Commands that need all other commands. */
const LOOK_AT_ALL: readonly string[] = ['completion', 'man']

/** Whether a word is the name of a command or of a group of subcommands. */
export const isCommand = (word: string): boolean => COMMANDS.some(({ names }) => names.includes(word))

/** Registers the commands of the files that have some of the words, or all commands. */
export async function register(program: Command, kit: Kit, words: readonly string[] | 'all'): Promise<void> {
  const all = words === 'all' || words.some((word) => LOOK_AT_ALL.includes(word))
  const needed = all ? COMMANDS : COMMANDS.filter(({ names }) => words.some((word) => names.includes(word)))
  for (const add of await Promise.all(needed.map(({ load }) => load()))) add(program, kit)
}

/** Commands whose name has the letters of a word, with two neighbours transposed. */
export const transposed = (word: string): string[] =>
  COMMANDS.flatMap(({ names }) => names).filter((name) => isTransposed(word, name))

/** Command names similar to a word. Subcommands also match without the name of their group. */
export const likeIt = (word: string): string[] =>
  COMMANDS.flatMap(({ names }) => names).filter((name) => mayMean(word, name.slice(name.indexOf(' ') + 1)))
