import { z } from 'zod'
import { reported } from '../../../domain/external/usage.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { Mapped } from '../../../domain/ports/external.ts'
import { ALL_RIGHTS } from '../../../domain/tree/rights.ts'
import type { CliAgent, LineMapping } from '../process/cli-agent.ts'
import { SaidText } from './bounded-memory.ts'
import {
  events,
  failure,
  NO_EVENTS,
  object,
  status,
  stringOf,
  textPiece,
  toolCall,
  toolResult,
  unknown,
} from './json-fields.ts'
import { usageByModel } from './model-usage.ts'
import { askedOf, COMMON, neverAsks } from './requests.ts'

const MODE = 'backend.gemini.approval_mode'

/**
 * Gemini CLI 0.61, `gemini -o stream-json`. It cannot fork a session, and its tool results are incomplete (a read file
 * arrives as empty text). Neither capability is advertised.
 */
export const gemini: CliAgent = {
  kind: 'gemini',
  capabilities: [...COMMON, 'agent_api.exec.add_dirs.v1', MODE],
  extensions: { [MODE]: z.enum(['default', 'auto_edit', 'plan']) },
  // In every mode Gemini starts the commands that the settings in its folder name. No mode excludes commands.
  rights: { extension: MODE, edits: 'auto_edit' },
  levels: [{ grants: ALL_RIGHTS, extensions: { 'agent_api.exec.external_sandbox.v1': true } }],
  program: 'gemini',
  versionArgs: ['--version'],
  passes: [
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_GEMINI_BASE_URL',
    'GOOGLE_CLOUD_PROJECT',
    'GOOGLE_CLOUD_LOCATION',
  ],
  exitCodes: {
    41: 'gemini is not logged in; set GEMINI_API_KEY, or log in with gemini itself',
    42: 'gemini does not know the session',
    53: 'gemini has reached its limit of turns',
    55: 'gemini does not trust the working folder',
  },
  keeps: { folders: ['.gemini'] },
  login: {
    variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    files: ['.gemini/oauth_creds.json'],
  },
  contradiction: (request) =>
    neverAsks(request) ??
    (request.extensions?.[MODE] !== undefined && askedOf(request).sandboxed
      ? `${MODE} and agent_api.exec.external_sandbox.v1 exclude each other; give one of them`
      : null),
  plan(request) {
    const { model, resume, dirs, sandboxed } = askedOf(request)
    const mode = sandboxed ? 'yolo' : String(request.extensions?.[MODE] ?? 'default')
    return {
      args: [
        ...['-o', 'stream-json', '--approval-mode', mode],
        ...(model === undefined ? [] : ['-m', model]),
        ...(resume === undefined ? [] : ['--resume', resume.selector === 'id' ? resume.id : 'latest']),
        ...dirs.flatMap((dir) => ['--include-directories', dir]),
      ],
      stdin: request.prompt,
      // The launcher would ignore signals and double the memory use.
      env: { GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    }
  },
  mapping: () => new GeminiMapping(),
}

class GeminiMapping implements LineMapping {
  #model: string | undefined
  #done = false
  /** The text after the last tool call. */
  readonly #said = new SaidText()

  line(line: JsonObject): Mapped {
    switch (line.type) {
      case 'init':
        this.#model = stringOf(line.model) || undefined
        return { ...status('session started', { model: stringOf(line.model) }), sessionId: stringOf(line.session_id) }
      case 'message':
        return line.role === 'assistant' ? this.#say(stringOf(line.content)) : NO_EVENTS
      case 'tool_use':
        this.#said.clear()
        return events(toolCall(line.tool_id, line.tool_name, line.parameters))
      case 'tool_result':
        return events(toolResult(line.tool_id, line.status === 'success', line.output ?? line.error))
      case 'error':
        return failure(stringOf(line.message))
      case 'result':
        return this.#result(line)
      default:
        return unknown()
    }
  }

  end() {
    return { done: this.#done, finalText: this.#done ? this.#said.text : null }
  }

  #say(delta: string): Mapped {
    this.#said.add(delta)
    return events(textPiece(delta))
  }

  #result(line: JsonObject): Mapped {
    this.#done = line.status === 'success'
    const { type, message } = object(line.error)
    const told = this.#done ? status('done') : failure(stringOf(message) || stringOf(type))
    const stats = object(line.stats)
    const usage = {
      scope: 'run',
      inputTokens: reported(stats.input_tokens),
      cachedInputTokens: reported(stats.cached),
      outputTokens: reported(stats.output_tokens),
      cost: null,
      ...(this.#model !== undefined && { model: this.#model }),
      ...usageByModel(stats.models, 'run', tokensOf),
    } as const
    return { ...told, usage }
  }
}

const tokensOf = (model: JsonObject) => ({
  inputTokens: reported(model.input_tokens),
  cachedInputTokens: reported(model.cached),
  outputTokens: reported(model.output_tokens),
  nanoDollars: null,
})
