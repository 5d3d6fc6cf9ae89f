import { z } from 'zod'
import {
  addUsage,
  MOST_MODELS,
  nanosOf,
  type ReportedUsage,
  reported,
  reportedTokens,
  type SessionUsage,
} from '../../../domain/external/usage.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { Mapped } from '../../../domain/ports/external.ts'
import { ALL_RIGHTS, NO_RIGHTS } from '../../../domain/tree/rights.ts'
import type { CliAgent, LineMapping, ReachedTools } from '../process/cli-agent.ts'
import {
  events,
  failure,
  list,
  NO_EVENTS,
  object,
  status,
  stringOf,
  toolCall,
  toolResult,
  unknown,
  wholeText,
} from './json-fields.ts'
import { usageByModel } from './model-usage.ts'
import { askedOf, CALL_MS, COMMON, httpServer, neverAsks } from './requests.ts'

export const MODE = 'backend.claude_code.permission_mode'
const TURNS = 'backend.claude_code.max_turns'
const BUDGET = 'backend.claude_code.max_budget_usd'
/** An MCP configuration file, and the names of the MCP tools that the agent may call without permission. */
export const MCP = 'backend.claude_code.mcp'
const REFUSED = 'backend.claude_code.disallowed_tools'
/** The agent has no tool that runs commands, and no file of its working folder configures it. */
const RESTRICTED = 'backend.claude_code.restricted'
/** Claude Code's own web tools follow no rule of the parent. A child without commands has the web tools of keepup. */
const NO_WEB = { [REFUSED]: ['WebFetch', 'WebSearch'] }

/** Claude Code 2.1, `claude -p --output-format stream-json`. */
export const claudeCode: CliAgent = {
  kind: 'claude_code',
  capabilities: [
    ...COMMON,
    'agent_api.tools.results.v1',
    'agent_api.session.fork.v1',
    'agent_api.exec.add_dirs.v1',
    MODE,
    TURNS,
    BUDGET,
    MCP,
    REFUSED,
    RESTRICTED,
  ],
  extensions: {
    [MODE]: z.enum(['default', 'acceptEdits', 'plan', 'dontAsk']),
    [TURNS]: z.int().positive(),
    [BUDGET]: z.number().positive(),
    [MCP]: z.strictObject({
      config: z.string().startsWith('/', 'an absolute path is expected'),
      tools: z.array(z.string().regex(/^mcp__\w+$/)).max(256),
    }),
    [REFUSED]: z.array(z.string().regex(/^[A-Za-z]\w*$/, 'expected the name of a tool')).min(1),
    [RESTRICTED]: z.boolean(),
  },
  levels: [
    {
      grants: { ...NO_RIGHTS, read: true, outside: true },
      extensions: { [MODE]: 'plan', [RESTRICTED]: true, ...NO_WEB },
    },
    {
      grants: { ...NO_RIGHTS, read: true, write: true, outside: true },
      extensions: { [MODE]: 'acceptEdits', [RESTRICTED]: true, ...NO_WEB },
    },
    { grants: ALL_RIGHTS, extensions: { 'agent_api.exec.external_sandbox.v1': true } },
  ],
  rights: { extension: MODE, edits: 'acceptEdits' },
  reportsCost: true,
  budgetExtension: BUDGET,
  program: 'claude',
  versionArgs: ['--version'],
  passes: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN'],
  keeps: { folders: ['.claude', '.cache/claude-cli-nodejs'], files: ['.claude.json'] },
  login: {
    variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
    files: ['.claude/.credentials.json'],
  },
  contradiction: (request) =>
    neverAsks(request) ??
    (request.extensions?.[MODE] !== undefined && askedOf(request).sandboxed
      ? `${MODE} and agent_api.exec.external_sandbox.v1 exclude each other; give one of them`
      : null),
  takesTools: true,
  plan(request, reach) {
    const { model, resume, fork, dirs, sandboxed } = askedOf(request)
    const mcp = reach === undefined ? (request.extensions?.[MCP] as Mcp | undefined) : reaching(reach)
    const {
      [MODE]: mode,
      [TURNS]: turns,
      [BUDGET]: budget,
      [REFUSED]: refused,
      [RESTRICTED]: restricted,
    } = request.extensions ?? {}
    const session = resume ?? fork
    return {
      args: [
        ...['-p', '--output-format', 'stream-json', '--verbose'],
        ...(model === undefined ? [] : ['--model', model]),
        ...(session === undefined ? [] : session.selector === 'id' ? ['--resume', session.id] : ['--continue']),
        ...(fork === undefined ? [] : ['--fork-session']),
        ...(sandboxed ? ['--permission-mode', 'bypassPermissions'] : []),
        ...(mode === undefined ? [] : ['--permission-mode', String(mode)]),
        ...(turns === undefined ? [] : ['--max-turns', String(turns)]),
        ...(budget === undefined ? [] : ['--max-budget-usd', String(budget)]),
        ...(restricted === true ? ['--restricted'] : []),
        ...(restricted === true || mcp !== undefined ? ['--strict-mcp-config'] : []),
        ...(mcp === undefined ? [] : ['--mcp-config', mcp.config]),
        ...(mcp === undefined || mcp.tools.length === 0 ? [] : ['--allowedTools', ...mcp.tools]),
        // These options take all arguments up to the next option.
        ...(refused === undefined ? [] : ['--disallowedTools', ...(refused as string[])]),
        ...(dirs.length === 0 ? [] : ['--add-dir', ...dirs]),
      ],
      stdin: request.prompt,
      ...(mcp !== undefined && { readable: [mcp.config] }),
      env: {
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_TELEMETRY: '1',
        DISABLE_ERROR_REPORTING: '1',
        DISABLE_AUTOUPDATER: '1',
        // Otherwise the model has to search for the tools of MCP servers first.
        ...(mcp !== undefined && { ENABLE_TOOL_SEARCH: 'false' }),
        ...(reach !== undefined && { MCP_TOOL_TIMEOUT: String(CALL_MS) }),
        // Claude Code lets root bypass permissions only if this variable says that it is sandboxed.
        ...(sandboxed && { IS_SANDBOX: '1' }),
      },
    }
  },
  mapping: () => new ClaudeMapping(),
}

interface Mcp {
  readonly config: string
  readonly tools: readonly string[]
}

function reaching({ server, tools, file, ...at }: ReachedTools): Mcp {
  const config = { mcpServers: { [server]: { type: 'http', ...httpServer(at) } } }
  return { config: file('mcp.json', JSON.stringify(config)), tools: tools.map((name) => `mcp__${server}__${name}`) }
}

class ClaudeMapping implements LineMapping {
  #model: string | undefined
  readonly #usage = new UsageOfRun()
  #done = false
  #finalText: string | null = null
  #error = ''

  line(line: JsonObject): Mapped {
    switch (line.type) {
      case 'system':
        return this.#system(line)
      case 'assistant':
        return this.#assistant(line)
      case 'user':
        return results(line)
      case 'stream_event':
        return NO_EVENTS
      case 'result':
        return this.#result(line)
      default:
        return unknown()
    }
  }

  end() {
    return { done: this.#done, finalText: this.#finalText }
  }

  #system(line: JsonObject): Mapped {
    switch (line.subtype) {
      case 'init': {
        this.#model = stringOf(line.model) || undefined
        const data = {
          model: stringOf(line.model),
          permissionMode: stringOf(line.permissionMode),
          mcpServers: list(line.mcp_servers).map(server),
        }
        return { ...status('session started', data), sessionId: stringOf(line.session_id) }
      }
      case 'thinking_tokens':
        return status('thinking')
      case 'permission_denied':
        return status('permission denied', { tool: stringOf(line.tool_name) })
      case 'api_retry':
        return status('the model is asked again', {
          attempt: reportedTokens(line.attempt),
          maxRetries: reportedTokens(line.max_retries),
          delayMs: reportedTokens(line.retry_delay_ms),
          status: reportedTokens(line.error_status),
        })
      case 'status':
        return NO_EVENTS
      default:
        return unknown()
    }
  }

  #assistant(line: JsonObject): Mapped {
    const { content, model } = object(line.message)
    const blocks = list(content).map(object)
    // Claude Code makes this message itself when the model's service fails.
    if (line.error !== undefined && line.error !== null && model === '<synthetic>')
      return this.#fail(blocks.map((block) => stringOf(block.text)).join('\n'))
    return events(
      ...blocks.map((block) => {
        if (block.type === 'text') return wholeText(block.text)
        if (block.type === 'thinking')
          return { kind: 'Status', channel: 'thinking', text: stringOf(block.thinking) } as const
        if (block.type === 'tool_use') return toolCall(block.id, block.name, block.input)
        return { kind: 'Unknown', message: 'a block of an unknown type' } as const
      }),
    )
  }

  /** The result line repeats an error that was already reported. */
  #fail(message: string, data?: JsonObject): Mapped {
    if (message !== '' && message === this.#error) return status('failed', data)
    this.#error = message
    return failure(message, data)
  }

  #result(line: JsonObject): Mapped {
    this.#done = line.is_error === false && line.subtype === 'success'
    this.#finalText = this.#done && typeof line.result === 'string' ? line.result : null
    const code = reportedTokens(line.api_error_status)
    const said = stringOf(line.result) || list(line.errors).map(stringOf).join('\n') || stringOf(line.subtype)
    return {
      ...(this.#done
        ? status('done', { turns: reportedTokens(line.num_turns) })
        : this.#fail(said, code === 0 ? undefined : { apiErrorStatus: code })),
      ...(stringOf(line.session_id) !== '' && { sessionId: stringOf(line.session_id) }),
      usage: claudeUsage(line, this.#model, this.#usage.add(line.model_usage_since_last_result)),
    }
  }
}

/** The name and the state of a server, without its other members. */
const server = (value: unknown) => ({ name: stringOf(object(value).name), status: stringOf(object(value).status) })

function results(line: JsonObject): Mapped {
  const blocks = list(object(line.message).content).map(object)
  return events(
    ...blocks
      .filter(({ type }) => type === 'tool_result')
      .map((block, _, all) => {
        // The side field belongs to the only result of the line.
        const patch = all.length === 1 ? patchIn(object(line.tool_use_result)) : ''
        return toolResult(block.tool_use_id, block.is_error !== true, block.content, patch)
      }),
  )
}

/** The difference that an editing tool made, as a unified diff. Empty: the tool reports none. */
function patchIn({ filePath, structuredPatch }: JsonObject): string {
  const path = stringOf(filePath)
  const hunks = list(structuredPatch).map(object).map(hunk)
  return path === '' || hunks.length === 0 ? '' : [`--- ${path}`, `+++ ${path}`, ...hunks, ''].join('\n')
}

const whole = (value: unknown): number => reported(value) ?? 0

const hunk = ({ oldStart, oldLines, newStart, newLines, lines }: JsonObject): string =>
  [
    `@@ -${whole(oldStart)},${whole(oldLines)} +${whole(newStart)},${whole(newLines)} @@`,
    ...list(lines).map(stringOf),
  ].join('\n')

/**
 * Tokens are those of this run. The cost is that of the session and accumulates over resumes. `ofRun`: the usage of this
 * run by model; without it, that of the session counts.
 */
export function claudeUsage(
  line: JsonObject,
  model: string | undefined,
  ofRun: Pick<ReportedUsage, 'models'> = {},
): ReportedUsage {
  const usage = object(line.usage)
  const input = reported(usage.input_tokens)
  const cached = input === null ? null : reportedTokens(usage.cache_read_input_tokens)
  const nanos = nanosOf(line.total_cost_usd)
  return {
    scope: 'run',
    inputTokens: input === null ? null : input + reportedTokens(usage.cache_creation_input_tokens) + (cached ?? 0),
    cachedInputTokens: cached,
    outputTokens: reported(usage.output_tokens),
    cost: nanos === null ? null : { nanoDollars: nanos, scope: 'session' },
    ...(model !== undefined && { model }),
    ...(ofRun.models === undefined ? usageByModel(line.modelUsage, 'session', figuresOf) : ofRun),
  }
}

/** The usage of a run by model. Each result line reports only the usage since the one before it. */
class UsageOfRun {
  readonly #sums = new Map<string, SessionUsage>()
  #isKnown = true

  /** The sums with those of a further line. Empty: a line had none, as in older versions, or too many models. */
  add(told: unknown): Pick<ReportedUsage, 'models'> {
    const { models } = usageByModel(told, 'run', figuresOf)
    // A result without a model's answer names no model.
    const isEmpty = told !== undefined && told !== null && Object.keys(object(told)).length === 0
    this.#isKnown &&= models !== undefined || isEmpty
    for (const { model, ...own } of models?.each ?? []) {
      const before = this.#sums.get(model)
      this.#sums.set(model, before === undefined ? own : addUsage(before, own))
    }
    const each = [...this.#sums].map(([model, sum]) => ({ model, ...sum }))
    return this.#isKnown && each.length > 0 && each.length <= MOST_MODELS ? { models: { scope: 'run', each } } : {}
  }
}

function figuresOf(model: JsonObject): SessionUsage {
  const input = reported(model.inputTokens)
  const cached = input === null ? null : reportedTokens(model.cacheReadInputTokens)
  return {
    inputTokens: input === null ? null : input + reportedTokens(model.cacheCreationInputTokens) + (cached ?? 0),
    cachedInputTokens: cached,
    outputTokens: reported(model.outputTokens),
    nanoDollars: nanosOf(model.costUSD),
  }
}
