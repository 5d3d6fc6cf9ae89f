import { controlTools } from '../../domain/agent/control/registry.ts'
import type { ToolSpec } from '../../domain/calls/tools/tool-spec.ts'
import type { ModelOutcome, ModelProvider, Tool } from '../../domain/ports/index.ts'
import type { ModelInfo } from '../../domain/tree/spec.ts'
import { AgentSpec } from '../../domain/tree/spec.ts'
import { answerOf, resultOf } from './text.ts'

// The agent that is measured: every turn it reads one file and thinks aloud, as coding agents do.

export const MODEL: ModelInfo = {
  id: 'bench-model',
  provider: 'bench',
  contextTokens: 10_000_000,
  maxOutputTokens: 8_192,
  timeoutMs: 3_600_000,
  price: {
    asOf: '2026-01-01',
    input: 3_000_000_000,
    output: 15_000_000_000,
    cacheRead: 300_000_000,
    cacheWrite: 3_750_000_000,
  },
  forcesCalls: true,
}

const READ_FILE: ToolSpec = {
  name: 'read_file',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  effect: 'pure',
  paths: {},
  barrier: false,
  control: false,
  timeLimitMs: 60_000,
}

/** Gives 300 to 2,900 bytes of text. */
export function readFile(): Tool {
  let n = 0
  return {
    spec: READ_FILE,
    async run() {
      n += 1
      return { content: resultOf(n) }
    },
  }
}

/** A run of at most `turns` turns with every default of the embedded program. */
export const benchSpec = (turns: number): AgentSpec =>
  AgentSpec.parse({
    role: null,
    policy: {},
    limits: { maxTurns: turns + 10, wallClockMs: null },
    recovery: {},
    retry: {},
    context: {},
    budget: { tokens: null, nanoDollars: null },
    models: { requested: MODEL.id, safeDefault: MODEL.id, known: [MODEL] },
    tools: [...controlTools(null), READ_FILE],
    workspace: null,
    testCommand: null,
    contextVariables: {},
    secrets: [],
    build: 'bench',
  })

/** Called before the answer of each turn, the first one being 1; what it waits for is not the run's. */
export type OnTurn = (turn: number) => Promise<void> | void

/** A model that calls `read_file` in each of `turns - 1` turns, with 200 to 1,400 bytes of text, then completes. */
export function benchModel(turns: number, onTurn: OnTurn = () => undefined): ModelProvider {
  return {
    id: 'bench',
    async call(request): Promise<ModelOutcome> {
      const turn = Math.floor(request.messages.length / 2) + 1
      await onTurn(turn)
      const last = turn >= turns
      const { text, call } = answerOf(turn, last)
      return {
        content: [
          { type: 'text', text },
          { type: 'tool_use', ...call },
        ],
        stopReason: 'tool_use',
        usage: { input: 1200 + turn, output: 180, cacheRead: 0, cacheWrite: 0 },
        servedBy: MODEL.id,
      }
    },
  }
}
