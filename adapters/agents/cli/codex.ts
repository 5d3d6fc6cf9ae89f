import { z } from 'zod'
import type { AgentEventBody } from '../../../domain/external/agent-event.ts'
import { reported } from '../../../domain/external/usage.ts'
import type { Json, JsonObject } from '../../../domain/log/json.ts'
import type { Mapped } from '../../../domain/ports/external.ts'
import { ALL_RIGHTS } from '../../../domain/tree/rights.ts'
import type { CliAgent, LineMapping, ReachedTools } from '../process/cli-agent.ts'
import { SeenIds } from './bounded-memory.ts'
import {
  events,
  failure,
  list,
  object,
  status,
  stringOf,
  toolCall,
  toolResult,
  unknown,
  wholeText,
} from './json-fields.ts'
import { askedOf, CALL_MS, COMMON, neverAsks } from './requests.ts'

const SANDBOX = 'backend.codex.sandbox'

/** Codex 0.169, `codex exec --json`. */
export const codex: CliAgent = {
  kind: 'codex',
  capabilities: [
    ...COMMON,
    'agent_api.tools.results.v1',
    'agent_api.session.fork.v1',
    'agent_api.exec.add_dirs.v1',
    SANDBOX,
  ],
  extensions: { [SANDBOX]: z.enum(['read-only', 'workspace-write', 'danger-full-access']) },
  // Codex can run commands and read all files in each sandbox mode.
  levels: [
    { grants: { ...ALL_RIGHTS, write: false }, extensions: { [SANDBOX]: 'read-only' } },
    { grants: ALL_RIGHTS, extensions: { [SANDBOX]: 'workspace-write' } },
  ],
  rights: { extension: SANDBOX, edits: 'workspace-write' },
  program: 'codex',
  versionArgs: ['--version'],
  passes: ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'CODEX_API_KEY', 'CODEX_HOME'],
  keeps: { folders: ['.codex'], variables: ['CODEX_HOME'] },
  login: {
    variables: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
    files: ['.codex/auth.json'],
  },
  contradiction(request) {
    const { fork, sandboxed } = askedOf(request)
    if (fork?.selector === 'last') return 'agent_api.session.fork.v1: codex forks a session by its id; give the id'
    if (sandboxed && request.extensions?.[SANDBOX] !== undefined)
      return `${SANDBOX} and agent_api.exec.external_sandbox.v1 exclude each other; give one of them`
    return neverAsks(request)
  },
  takesTools: true,
  plan(request, reach) {
    const { model, resume, fork, dirs, sandboxed } = askedOf(request)
    const sandbox = request.extensions?.[SANDBOX]
    return {
      args: [
        ...['exec', '--json', '--skip-git-repo-check', '--disable', 'plugins'],
        ...['-c', 'check_for_update_on_startup=false', '-c', 'analytics.enabled=false'],
        // Commands of the model must not inherit the API key.
        ...['-c', 'shell_environment_policy.inherit=core'],
        ...(reach === undefined ? [] : ['-c', `mcp_servers.${reach.server}=${reaching(reach)}`]),
        ...(model === undefined ? [] : ['-m', model]),
        ...(sandboxed ? ['--dangerously-bypass-approvals-and-sandbox'] : []),
        ...(sandbox === undefined ? [] : ['-s', String(sandbox)]),
        ...dirs.flatMap((dir) => ['--add-dir', dir]),
        // `resume` and `fork` come last: Codex refuses the options above after them.
        ...(resume === undefined ? [] : ['resume', resume.selector === 'id' ? resume.id : '--last']),
        ...(fork?.selector === 'id' ? ['fork', fork.id] : []),
        '-',
      ],
      stdin: request.prompt,
      ...(reach !== undefined && { env: { [TOKEN]: reach.token } }),
    }
  },
  mapping: () => new CodexMapping(),
}

/** The variable with the token of keepup's tools. Commands of the model do not inherit it. */
const TOKEN = 'KEEPUP_TOOLS_TOKEN'

/** A server entry in TOML. keepup judges each call, so the program must not ask for approval. */
const reaching = ({ url }: ReachedTools): string =>
  `{url="${url}",bearer_token_env_var="${TOKEN}",default_tools_approval_mode="approve",tool_timeout_sec=${CALL_MS / 1000}}`

class CodexMapping implements LineMapping {
  readonly #started = new SeenIds()
  #done = false
  #finalText: string | null = null
  #error = ''

  line(line: JsonObject): Mapped {
    const item = object(line.item)
    switch (line.type) {
      case 'thread.started':
        return { ...status('session started'), sessionId: stringOf(line.thread_id) }
      case 'turn.started':
        return status('turn started')
      case 'item.started':
      case 'item.updated':
        return this.#begin(item)
      case 'item.completed':
        return this.#complete(item)
      case 'error': {
        const message = stringOf(line.message)
        if (message.startsWith('Reconnecting')) return status('the model is asked again')
        this.#error = message
        return failure(message)
      }
      case 'turn.completed':
        this.#done = true
        return { ...status('done'), usage: usageOf(object(line.usage)) }
      case 'turn.failed': {
        this.#done = false
        const message = stringOf(object(line.error).message)
        return message === this.#error ? status('turn failed') : failure(message)
      }
      default:
        return unknown()
    }
  }

  end() {
    return { done: this.#done, finalText: this.#done ? this.#finalText : null }
  }

  #begin(item: JsonObject): Mapped {
    const call = callOf(item)
    return call === null || !this.#started.add(stringOf(item.id)) ? {} : events(call)
  }

  #complete(item: JsonObject): Mapped {
    switch (item.type) {
      case 'agent_message':
        this.#finalText = stringOf(item.text)
        return events(wholeText(item.text))
      case 'reasoning':
        return events({ kind: 'Status', channel: 'thinking', text: stringOf(item.text) })
      case 'error':
        return status(stringOf(item.message) || 'warning')
      case 'command_execution':
      case 'file_change':
      case 'mcp_tool_call': {
        const begun = this.#begin(item).events ?? []
        return events(...begun, resultOf(item))
      }
      default:
        return unknown()
    }
  }
}

function callOf(item: JsonObject): AgentEventBody | null {
  if (item.type === 'command_execution') return toolCall(item.id, 'shell', { command: item.command ?? null })
  if (item.type === 'file_change') return toolCall(item.id, 'apply_patch', { changes: changesIn(item) })
  if (item.type !== 'mcp_tool_call') return null
  return toolCall(item.id, `${stringOf(item.server)}:${stringOf(item.tool)}`, item.arguments)
}

/** Codex reports the paths of a patch, and its differences only in some versions. */
const changesIn = (item: JsonObject): Json[] =>
  list(item.changes)
    .map(object)
    .map(({ path, kind, diff }) => ({
      path: stringOf(path),
      // Newer versions report the kind as an object.
      kind: stringOf(kind) || stringOf(object(kind).type),
      ...(typeof diff === 'string' && { diff }),
    }))

function resultOf(item: JsonObject): AgentEventBody {
  const success = item.status === 'completed' && (item.error === undefined || item.error === null)
  if (item.type === 'mcp_tool_call')
    return toolResult(item.id, success, success ? (object(item.result).content ?? null) : (item.error ?? null))
  if (item.type === 'file_change') return toolResult(item.id, success, item.error ?? stringOf(item.status))
  const exitCode = item.exit_code ?? null
  return toolResult(item.id, success && exitCode === 0, { exitCode, output: item.aggregated_output ?? null })
}

/** Codex counts tokens of the whole thread and reports no cost. */
const usageOf = (usage: JsonObject) =>
  ({
    scope: 'session',
    inputTokens: reported(usage.input_tokens),
    cachedInputTokens: reported(usage.cached_input_tokens),
    outputTokens: reported(usage.output_tokens),
    cost: null,
  }) as const
