import { AgentError } from '../../../domain/external/errors.ts'
import type { ReportedUsage } from '../../../domain/external/usage.ts'
import { nanosOf, reportedTokens } from '../../../domain/external/usage.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { Mapped } from '../../../domain/ports/external.ts'
import { ALL_RIGHTS } from '../../../domain/tree/rights.ts'
import type { CliAgent, LineMapping, ReachedTools } from '../process/cli-agent.ts'
import { SaidText } from './bounded-memory.ts'
import { events, failure, object, status, stringOf, toolCall, toolResult, unknown, wholeText } from './json-fields.ts'
import { askedOf, CALL_MS, COMMON, httpServer, neverAsks } from './requests.ts'

/**
 * opencode 1.18, `opencode run --format json`. It reports a tool call only when the call has ended. It has no option
 * for further folders.
 */
export const opencode: CliAgent = {
  kind: 'opencode',
  capabilities: [...COMMON, 'agent_api.tools.results.v1', 'agent_api.session.fork.v1'],
  // Without options opencode writes files and runs commands.
  levels: [{ grants: ALL_RIGHTS, extensions: {} }],
  reportsCost: true,
  program: 'opencode',
  versionArgs: ['--version'],
  passes: [
    'ANTHROPIC_API_KEY',
    'OPENAI_API_KEY',
    'GEMINI_API_KEY',
    'OPENROUTER_API_KEY',
    'OPENCODE_CONFIG',
    'OPENCODE_CONFIG_CONTENT',
    'OPENCODE_PERMISSION',
  ],
  keeps: {
    folders: ['.local/share/opencode', '.local/state/opencode', '.config/opencode', '.cache/opencode'],
    variables: ['OPENCODE_CONFIG'],
  },
  login: {
    variables: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY'],
    files: ['.local/share/opencode/auth.json'],
  },
  contradiction: neverAsks,
  takesTools: true,
  plan(request, reach) {
    const { model, resume, fork, sandboxed } = askedOf(request)
    const session = resume ?? fork
    return {
      args: [
        ...['run', '--format', 'json'],
        ...(model === undefined ? [] : ['-m', model]),
        ...(session === undefined ? [] : session.selector === 'id' ? ['-s', session.id] : ['--continue']),
        ...(fork === undefined ? [] : ['--fork']),
        ...(sandboxed ? ['--auto'] : []),
      ],
      stdin: request.prompt,
      env: {
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
        ...(reach !== undefined && { OPENCODE_CONFIG_CONTENT: reaching(reach) }),
      },
    }
  },
  mapping: () => new OpencodeMapping(),
}

/** The settings in `OPENCODE_CONFIG_CONTENT`, with keepup's server added to them. */
function reaching({ server, ours: { OPENCODE_CONFIG_CONTENT: given }, ...at }: ReachedTools): string {
  const config = given === undefined ? {} : settingsIn(given)
  const entry = { type: 'remote', enabled: true, ...httpServer(at), oauth: false, timeout: CALL_MS }
  return JSON.stringify({ ...config, mcp: { ...object(config.mcp), [server]: entry } })
}

function settingsIn(content: string): JsonObject {
  try {
    return object(JSON.parse(content))
  } catch (cause) {
    throw new AgentError('Backend', 'OPENCODE_CONFIG_CONTENT is not JSON; correct it, or unset it', { cause })
  }
}

class OpencodeMapping implements LineMapping {
  #session = ''
  #done = false
  /** The text of the last step. */
  readonly #said = new SaidText('\n')
  #used: Used | null = null

  line(line: JsonObject): Mapped {
    const mapped = this.#mapped(line, object(line.part))
    const session = stringOf(line.sessionID)
    if (session === '' || session === this.#session) return mapped
    this.#session = session
    return { ...mapped, sessionId: session }
  }

  end() {
    return {
      done: this.#done,
      finalText: this.#done ? this.#said.text : null,
      ...(this.#used !== null && { mapped: { usage: usageOf(this.#used) } }),
    }
  }

  #mapped(line: JsonObject, part: JsonObject): Mapped {
    switch (line.type) {
      case 'step_start':
        this.#said.clear()
        this.#done = false
        return status('step started')
      case 'text':
        this.#said.add(stringOf(part.text))
        return events(wholeText(part.text))
      case 'reasoning':
        return events({ kind: 'Status', channel: 'thinking', text: stringOf(part.text) })
      case 'tool_use':
        return tool(part)
      case 'step_finish':
        return this.#finish(part)
      case 'error':
        this.#done = false
        return failed(object(line.error))
      default:
        return unknown()
    }
  }

  #finish(part: JsonObject): Mapped {
    const { input, output, reasoning, cache } = object(part.tokens)
    const { read, write } = object(cache)
    const used = this.#used ?? { input: 0, cached: 0, output: 0, nanos: 0 }
    this.#used = {
      input: used.input + reportedTokens(input) + reportedTokens(read) + reportedTokens(write),
      cached: used.cached + reportedTokens(read),
      output: used.output + reportedTokens(output) + reportedTokens(reasoning),
      nanos: used.nanos + (nanosOf(part.cost) ?? 0),
    }
    this.#done = part.reason === 'stop'
    return status(this.#done ? 'done' : 'step finished')
  }
}

interface Used {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly nanos: number
}

/** A cost of 0 means that no price is configured. */
function usageOf({ input, cached, output, nanos }: Used): ReportedUsage {
  const cost = nanos === 0 ? null : ({ nanoDollars: nanos, scope: 'run' } as const)
  return { scope: 'run', inputTokens: input, cachedInputTokens: cached, outputTokens: output, cost }
}

/** The state of a failed command is also "completed"; the exit code shows the failure. */
function tool(part: JsonObject): Mapped {
  const state = object(part.state)
  const exit = object(state.metadata).exit
  const success = state.status === 'completed' && (exit === undefined || exit === null || exit === 0)
  const output = state.status === 'completed' ? state.output : state.error
  const { diff } = object(state.metadata)
  return events(toolCall(part.callID, part.tool, state.input), toolResult(part.callID, success, output, stringOf(diff)))
}

/**
 * The error's data contains headers and bodies of the exchange with the model's service. Only its message is reported.
 */
function failed(error: JsonObject): Mapped {
  const { message, statusCode } = object(error.data)
  return failure(stringOf(message) || stringOf(error.name), {
    name: stringOf(error.name),
    status: reportedTokens(statusCode),
  })
}
