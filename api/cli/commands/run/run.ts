import { isAbsolute, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { ROLES } from '../../../../domain/agent/definition/roles.ts'
import { ErrorRecoveryPolicy, MODEL_OUTAGE_MS } from '../../../../domain/calls/policy-schema.ts'
import { ContextManagementConfig, RecoveryConfig, TreeLimits } from '../../../../domain/tree/spec.ts'
import { take } from '../../../http/answers.ts'
import { OWN_AGENT } from '../../../operations/runs/own-agent.ts'
import { DEFAULT_TURNS } from '../../../operations/runs/prepare-start.ts'
import type { StartRunInput } from '../../../operations/runs/start-schemas.ts'
import { nearest } from '../../../operations/text/spelling.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { driveToEnd, FROM_BIRTH, resuming } from '../../follow/drive.ts'
import { followAgent } from '../../follow/follow-agent.ts'
import { mustFollow } from '../../follow/must-follow.ts'
import { choice, jsonOrText, type Kit, modelId, moneyOption, names, readAll, SUGGESTIONS, some, whole } from '../kit.ts'
import { knowledgeFrom, pairs, routingFrom } from './file-options.ts'

interface RunOptions {
  role?: string
  model?: string
  workspace?: string | false
  mode?: 'interactive' | 'batch'
  allow?: string[]
  deny?: string[]
  backends?: string[]
  requireApproval?: string[]
  approve?: string[]
  tools?: string[]
  maxTurns?: number
  graceTurns?: number
  graceTimeout?: number
  wallClock?: number
  maxRetries?: number
  modelOutage?: number
  testCommand?: string
  var?: string[]
  secret?: string[]
  budgetTokens?: number
  budgetUsd?: number
  instructions?: string
  knowledge?: string[]
  routing?: string
  contextStrategy?: 'summarize' | 'truncate' | 'hybrid'
  contextTokens?: number
  contextThreshold?: number
  keepInputs?: number
  delegate?: boolean
  maxDepth?: number
  maxAgents?: number
  sandbox?: boolean
  cache?: boolean
  drive?: boolean
  agent?: string
  env?: string[]
  extension?: string[]
  key?: string
}

/** An external agent starts at once, without a driver. */
const isOther = (agent: string | undefined): boolean => agent !== undefined && agent !== OWN_AGENT

/** Reads variables of this environment by name. Other users could see a value on the command line. */
export function passed(names: readonly string[], env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => {
      const value = env[name]
      if (value === undefined) throw new UsageError(`--env: there is no variable ${name}; set it, or leave it out`)
      return [name, value]
    }),
  )
}

/** Parses words such as `npm test`, or a JSON array if an argument contains a space. */
function argv(text: string): string[] {
  const found = text.trim().startsWith('[') ? jsonOrText(text) : text.trim().split(/\s+/)
  if (!Array.isArray(found) || found.length === 0 || !found.every((v) => typeof v === 'string' && v !== '')) {
    throw new UsageError('--test-command: expected words, or a JSON array of strings')
  }
  return found as string[]
}

/** A limit of the tree enables delegation. Without any option, the setting applies. */
function delegation({ delegate, maxDepth, maxAgents }: RunOptions): StartRunInput['delegation'] {
  if (delegate === false) return false
  return some({ maxDepth, agents: maxAgents }) ?? (delegate === true ? {} : undefined)
}

/** The start request for a command line. */
export function startRequest(
  task: string | undefined,
  o: RunOptions,
  { cwd, env, by }: { cwd: string; env: NodeJS.ProcessEnv; by: string | undefined },
): StartRunInput {
  const request = some({
    task,
    role: o.role,
    model: o.model === undefined ? undefined : modelId(o.model, cwd),
    policy: some({
      mode: o.mode,
      allowedTools: o.allow,
      deniedTools: o.deny,
      backends: o.backends,
      requiresApproval: o.requireApproval,
      sandboxed: o.sandbox === false ? false : undefined,
    }),
    limits: some({ maxTurns: o.maxTurns, wallClockMs: o.wallClock }),
    recovery: some({ graceTurns: o.graceTurns, graceTimeoutMs: o.graceTimeout }),
    retry: some({ maxRetries: o.maxRetries, modelOutageMs: o.modelOutage }),
    context: some({
      compressionStrategy: o.contextStrategy,
      maxTokens: o.contextTokens,
      compressionThreshold: o.contextThreshold === undefined ? undefined : o.contextThreshold / 100,
      preserveLastN: o.keepInputs,
    }),
    knowledge: o.knowledge?.map((path) => knowledgeFrom(path, cwd)),
    routing: o.routing === undefined ? undefined : routingFrom(o.routing, cwd),
    tools: o.tools,
    workspace: o.workspace === false ? undefined : resolve(cwd, o.workspace ?? '.'),
    testCommand: o.testCommand === undefined ? undefined : argv(o.testCommand),
    contextVariables: o.var && pairs('--var', o.var),
    secrets: o.secret,
    budget: some({ tokens: o.budgetTokens, nanoDollars: o.budgetUsd }),
    approve: o.approve,
    cache: o.cache,
    delegation: delegation(o),
    instructions: o.instructions,
    agent: o.agent,
    env: o.env && passed(o.env, env),
    extensions: o.extension && pairs('--extension', o.extension),
    // Start without a driver. The run is driven once this command listens, so that it shows all output.
    drive: isOther(o.agent) ? undefined : false,
    by,
  })
  return request as StartRunInput
}

/** Refuses keepup's own source folder as the default workspace. */
function notOurOwn(workspace: string): void {
  const inside = relative(CLONE, workspace)
  if (!import.meta.url.endsWith('.ts') || inside.startsWith('..') || isAbsolute(inside)) return
  throw new UsageError(
    `${workspace} is keepup's own folder; name the one to work in with --workspace, or say --no-workspace`,
  )
}
const CLONE = fileURLToPath(new URL('../../../..', import.meta.url))

/** Refuses a task of one word that is a command or similar to one. Such a run would only cost money. */
function noCommand(program: Command, { likeIt }: Kit, task: string): void {
  if (/\s/.test(task)) return
  const near = likeIt(task)
  const meant = near.includes(task) ? [task] : nearest(`run ${task}`, near, SUGGESTIONS)
  if (meant.length === 0) return
  throw new UsageError(
    `"${task}" is no task but a command, or nearly one: did you mean ${meant.map((name) => `"${program.name()} ${name}"`).join(' or ')}? A task of this one word is read from standard input: ${program.name()} run -`,
  )
}

const GRACE = RecoveryConfig.parse({})
const RETRY = ErrorRecoveryPolicy.parse({})
const CONTEXT = ContextManagementConfig.parse({})
const TREE = TreeLimits.parse({})

const repeated = (text: string, before: string[] = []): string[] => [...before, text]

export function runCommand(program: Command, kit: Kit): void {
  program
    .command('run')
    .description('start a run and follow it to its end; the result goes to stdout')
    .argument('[task]', 'what to do; "-" reads it from standard input; absent: the run waits for input')
    .option(
      '--role <name>',
      `the procedure to follow: ${Object.keys(ROLES).join(', ')}, or one of "roles list" (default: none)`,
    )
    .option('--model <id>', 'the model to ask for')
    .option('--routing <file>', 'rules that choose the models of this run, as JSON: "routing" of the settings')
    .option('-w, --workspace <folder>', 'the folder to work in (default: the current one)')
    .option('--no-workspace', 'without a folder')
    .option(
      '--mode <mode>',
      'interactive: one call a turn, and write_file and run_command ask; batch: several, and only --require-approval asks',
      choice('--mode', ['interactive', 'batch']),
    )
    .option('--allow <tools>', 'allowed tools, by commas: tool, server:*, *', names)
    .option('--deny <tools>', 'denied tools', names)
    .option(
      '--require-approval <tools>',
      'tools that ask a person; tools of your own ask only where they are named here',
      names,
    )
    .option('--approve <tools>', 'standing approval: these tools do not ask', names)
    .option('--tools <tools>', 'the tools to offer (default: all)', names)
    .option(
      '--max-turns <n>',
      `limit of turns (default: the role's and the grace turns; ${DEFAULT_TURNS} without a role)`,
      whole('--max-turns', 1),
    )
    .option(
      '--grace-turns <n>',
      `turns kept for the final warning (default: ${GRACE.graceTurns})`,
      whole('--grace-turns'),
    )
    .option(
      '--grace-timeout <ms>',
      `time kept for the final warning (default: ${GRACE.graceTimeoutMs})`,
      whole('--grace-timeout', 1),
    )
    .option('--wall-clock <ms>', 'limit of driven time', whole('--wall-clock', 1))
    .option(
      '--max-retries <n>',
      `how often a model call, or a tool call that is safe again, is tried again (default: ${RETRY.maxRetries})`,
      whole('--max-retries'),
    )
    .option(
      '--model-outage <ms>',
      `how long the run waits for its models while all of them are out, after the retries (default: ${MODEL_OUTAGE_MS}; 0: it ends with MODEL_FAILED)`,
      whole('--model-outage'),
    )
    .option('--cache', 'take answers to equal requests of other runs from the request cache')
    .option('--test-command <command>', 'the command of the tests_pass gate')
    .option('--var <key=value>', 'a context variable; may be repeated', repeated)
    .option(
      '--secret <names>',
      'secrets by name, for files and commands; NAME=@server:SERVER, NAME=@host:HOST[:PORT] and NAME=@command:PROGRAM give one to that place only',
      names,
    )
    .option('--budget-tokens <n>', 'limit of tokens', whole('--budget-tokens', 1))
    .option('--budget-usd <dollars>', 'limit of money', moneyOption('--budget-usd'))
    .option('--backends <kinds>', 'other agents that it may delegate to, of the setting "agents.roles"', names)
    .option('--delegate', 'agents may start others, whatever the setting "delegation" says')
    .option('--no-delegate', 'the agent starts no others and waits for none')
    .option('--max-depth <n>', `depth of the deepest agent (default: ${TREE.maxDepth})`, whole('--max-depth'))
    .option('--max-agents <n>', `agents of the run (default: ${TREE.agents})`, whole('--max-agents', 1))
    .option('--instructions <text>', 'added to the system prompt')
    .option(
      '--knowledge <file>',
      'what the agent is told beside its task, kept in every request; may be repeated',
      repeated,
    )
    .option(
      '--context-strategy <name>',
      `how a long context is compressed: summarize, truncate, hybrid (default: ${CONTEXT.compressionStrategy})`,
      choice('--context-strategy', ['summarize', 'truncate', 'hybrid']),
    )
    .option(
      '--context-tokens <n>',
      "limit of a request's tokens (default: the model's own)",
      whole('--context-tokens', 1),
    )
    .option(
      '--context-threshold <percent>',
      `the part of the limit at which it is compressed (default: ${CONTEXT.compressionThreshold * 100})`,
      whole('--context-threshold', 1),
    )
    .option(
      '--keep-inputs <n>',
      `the last messages of users that are never hidden (default: ${CONTEXT.preserveLastN})`,
      whole('--keep-inputs'),
    )
    .option('--no-sandbox', 'run commands, or with --agent the agent, without a sandbox; recorded and shown')
    .option('--no-drive', 'only record the run')
    .option(
      '--agent <kind>',
      'another agent, of "agents list"; it begins at once, and our policy does not see what it does',
    )
    .option('--env <names>', 'with --agent: variables of this environment that it is given', names)
    .option('--extension <id=value>', 'with --agent: an extension of its capabilities; may be repeated', repeated)
    .option('--key <key>', 'idempotency key: the same command line again finds the same run')
    .action(
      kit.action<RunOptions>(async (ctx, [given], options) => {
        const task = given === '-' ? (await readAll(ctx)).trim() : given
        if (task !== undefined && task.trim() === '') throw new UsageError('the task is empty')
        if (given !== undefined && given !== '-') noCommand(program, kit, given)
        const json = startRequest(task, options, { cwd: ctx.io.cwd, env: ctx.io.env, by: ctx.by })
        const { key, drive } = options
        if (json.workspace !== undefined && options.workspace === undefined) notOurOwn(json.workspace)
        const client = await ctx.client('write')
        if (isOther(options.agent) || drive !== false) await mustFollow(ctx, !isOther(options.agent))
        const header = key === undefined ? {} : { 'idempotency-key': key }
        const started = await take(client.v1.runs.$post({ header, json }))
        if (json.workspace !== undefined) ctx.note(`works in ${json.workspace}`)
        ctx.note(`run ${started.runId}`)
        for (const warning of started.warnings) ctx.note(`warning: ${warning}`)
        if (isOther(options.agent)) return followAgent(ctx, started.runId)
        if (drive === false) {
          ctx.show(started, () => [started.runId])
          ctx.note(`go on with: ${ctx.command('resume', started.runId)}`)
          return EXIT.done
        }
        return driveToEnd(ctx, started.runId, FROM_BIRTH, resuming(ctx, started.runId))
      }),
    )
}
