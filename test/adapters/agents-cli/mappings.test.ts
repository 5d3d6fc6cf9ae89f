import { describe, expect, it, test } from 'vitest'
import { claudeCode } from '../../../adapters/agents/cli/claude-code.ts'
import { codex } from '../../../adapters/agents/cli/codex.ts'
import { gemini } from '../../../adapters/agents/cli/gemini.ts'
import { opencode } from '../../../adapters/agents/cli/opencode.ts'
import type { CliAgent } from '../../../adapters/agents/process/cli-agent.ts'
import { mapLine } from '../../../adapters/agents/process/map-line.ts'
import { checkRequest } from '../../../domain/external/request.ts'
import type { Mapped } from '../../../domain/ports/external.ts'
import { CLAUDE, CODEX, GEMINI, OPENCODE } from '../../support/external/samples.ts'

/** The events of lines, as the harness maps them. */
function mapped(agent: CliAgent, lines: readonly (string | object)[]) {
  const mapping = agent.mapping()
  const told: Mapped[] = lines.map((line) => mapLine(typeof line === 'string' ? line : JSON.stringify(line), mapping))
  const end = mapping.end()
  const usage = [...told, end.mapped ?? {}].flatMap((one) => one.usage ?? [])
  return { events: told.flatMap(({ events = [] }) => events), usage, done: end.done, finalText: end.finalText }
}
const kinds = (agent: CliAgent, ...lines: object[]) =>
  mapped(agent, lines).events.map(({ kind, message }) => `${kind} ${message ?? ''}`.trim())
const plan = (agent: CliAgent, extensions: object = {}) =>
  agent.plan(checkRequest({ prompt: 'go', extensions }, agent)).args.join(' ')
const refusal = (agent: CliAgent, extensions: object) => {
  try {
    checkRequest({ prompt: 'go', extensions }, agent)
    return 'none'
  } catch (error) {
    return (error as { code: string }).code
  }
}
const RESUME = 'agent_api.session.resume.v1'
const FORK = 'agent_api.session.fork.v1'
const byId = { selector: 'id', id: 's7' }
const last = { selector: 'last' }

describe('usage, as each program counts it', () => {
  it.each([
    [claudeCode, { type: 'result', subtype: 'error_during_execution', is_error: true }],
    [codex, { type: 'turn.completed' }],
    [gemini, { type: 'result', status: 'error' }],
  ] as const)('tokens that a program does not report are unknown, not 0', (agent, line) => {
    const [usage] = mapped(agent, [JSON.stringify(line)]).usage
    expect(usage).toMatchObject({ inputTokens: null, cachedInputTokens: null, outputTokens: null })
  })

  it('claude: this run, with what its cache served; the cost is of the session', () => {
    expect(mapped(claudeCode, CLAUDE.lines).usage).toEqual([
      {
        scope: 'run',
        inputTokens: 4_022,
        cachedInputTokens: 300,
        outputTokens: 168,
        cost: { nanoDollars: 13_700_000, scope: 'session' },
        model: 'claude-sonnet-4-5',
      },
    ])
  })
  it('codex: the whole thread, and no cost', () => {
    expect(mapped(codex, CODEX.lines).usage).toEqual([
      { scope: 'session', inputTokens: 3_702, cachedInputTokens: 300, outputTokens: 168, cost: null },
    ])
  })
  it('gemini: this run, and no cost', () => {
    expect(mapped(gemini, GEMINI.lines).usage).toEqual([
      {
        scope: 'run',
        inputTokens: 3_702,
        cachedInputTokens: 300,
        outputTokens: 168,
        cost: null,
        model: 'gemini-2.5-flash',
      },
    ])
  })
  it('opencode: the sum of the steps, input with what the cache served', () => {
    expect(mapped(opencode, OPENCODE.lines).usage).toEqual([
      {
        scope: 'run',
        inputTokens: 2 * 1_234,
        cachedInputTokens: 200,
        outputTokens: 112,
        cost: { nanoDollars: 5_242_000, scope: 'run' },
      },
    ])
  })
})

describe('usage by model', () => {
  const figures = (input: number, cost: number) => ({
    ...{ inputTokens: input, cacheReadInputTokens: 2, cacheCreationInputTokens: 3, outputTokens: 4, costUSD: cost },
  })
  const each = (model: string, input: number, nanoDollars: number) => ({
    ...{ model, inputTokens: input + 5, cachedInputTokens: 2, outputTokens: 4, nanoDollars },
  })

  it('claude: of this run where the program reports it, else of the session', () => {
    const line = { type: 'result', subtype: 'success', is_error: false, modelUsage: { a: figures(10, 0.5) } }
    expect(mapped(claudeCode, [line]).usage[0]!.models).toEqual({ scope: 'session', each: [each('a', 10, 5e8)] })
    const run = { a: figures(1, 0.25), b: figures(2, 0) }
    expect(mapped(claudeCode, [{ ...line, model_usage_since_last_result: run }]).usage[0]!.models).toEqual({
      scope: 'run',
      each: [each('a', 1, 2.5e8), each('b', 2, 0)],
    })
  })

  it('claude: the sum over the results of a run, each of which reports an interval', () => {
    const line = { type: 'result', subtype: 'success', is_error: false, modelUsage: { a: figures(10, 0.5) } }
    const results = [{ a: figures(1, 0.25), b: figures(2, 0) }, {}, { a: figures(3, 0.5) }]
    const usage = mapped(
      claudeCode,
      results.map((interval) => ({ ...line, model_usage_since_last_result: interval })),
    ).usage
    expect(usage[2]!.models).toEqual({
      scope: 'run',
      each: [
        { model: 'a', inputTokens: 14, cachedInputTokens: 4, outputTokens: 8, nanoDollars: 7.5e8 },
        each('b', 2, 0),
      ],
    })
    const lines = [{ ...line, model_usage_since_last_result: results[0] }, line]
    expect(mapped(claudeCode, lines).usage[1]!.models).toMatchObject({ scope: 'session' })
  })

  it('gemini: tokens of each model', () => {
    const stats = { models: { pro: { input_tokens: 5, output_tokens: 6, cached: 1 } } }
    expect(mapped(gemini, [{ type: 'result', status: 'success', stats }]).usage[0]!.models).toEqual({
      scope: 'run',
      each: [{ model: 'pro', inputTokens: 5, cachedInputTokens: 1, outputTokens: 6, nanoDollars: null }],
    })
  })

  it('names that are none, and too many models, are left out', () => {
    const models = (usage: object) => mapped(claudeCode, [{ type: 'result', modelUsage: usage }]).usage[0]!.models
    expect(models({ '': figures(1, 1) })).toBeUndefined()
    expect(models(Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`m${n}`, figures(1, 1)])))).toBeUndefined()
    expect(models([])).toBeUndefined()
  })
})

describe('file edits', () => {
  const resultOf = (agent: CliAgent, line: object) =>
    mapped(agent, [line]).events.find(({ kind }) => kind === 'ToolResult')?.data as { patch?: string }
  const patch = '--- /w/a\n+++ /w/a\n@@ -7,2 +7,2 @@\n one\n-two\n+2\n'

  it('claude: the hunks that the tool reports', () => {
    const hunk = { oldStart: 7, oldLines: 2, newStart: 7, newLines: 2, lines: [' one', '-two', '+2'] }
    const line = {
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 't', content: 'done' }] },
      tool_use_result: { filePath: '/w/a', structuredPatch: [hunk] },
    }
    expect(resultOf(claudeCode, line).patch).toBe(patch)
    const two = { ...line, message: { content: [...line.message.content, ...line.message.content] } }
    expect(resultOf(claudeCode, two)).not.toHaveProperty('patch')
  })

  it('opencode: the difference in the metadata, unless the event would be too large', () => {
    const line = (diff: string) => ({
      type: 'tool_use',
      part: { tool: 'edit', callID: 'c', state: { status: 'completed', input: {}, output: 'ok', metadata: { diff } } },
    })
    expect(resultOf(opencode, line(patch)).patch).toBe(patch)
    expect(resultOf(opencode, line('x'.repeat(70_000)))).toEqual({ id: 'c', success: true, output: 'ok' })
  })

  it('codex: the changed paths are a call with its result', () => {
    const changes = [
      { path: 'a', kind: 'add' },
      { path: 'b', kind: { type: 'update' }, diff: '@@' },
    ]
    const item = { id: 'i', type: 'file_change', changes, status: 'completed' }
    const { events } = mapped(codex, [{ type: 'item.completed', item }])
    expect(events.map(({ data }) => data)).toEqual([
      {
        ...{ id: 'i', name: 'apply_patch' },
        input: {
          changes: [
            { path: 'a', kind: 'add' },
            { path: 'b', kind: 'update', diff: '@@' },
          ],
        },
      },
      { id: 'i', success: true, output: 'completed' },
    ])
  })
})

describe('tools', () => {
  const results = (agent: CliAgent, lines: readonly string[]) =>
    mapped(agent, lines).events.flatMap(({ kind, data }) => (kind.startsWith('Tool') ? [data] : []))
  it('carry id, name, input and output', () => {
    expect(results(claudeCode, CLAUDE.lines)).toEqual([
      { id: 'toolu_1', name: 'Read', input: { file_path: '/w/note.txt' } },
      { id: 'toolu_1', success: true, output: '1\tthe note' },
    ])
    expect(results(opencode, OPENCODE.lines)).toEqual([
      { id: 'call_1', name: 'bash', input: { command: 'cat note.txt' } },
      { id: 'call_1', success: true, output: 'the note\n' },
    ])
  })
  it('that fail are told as such, also by their exit code', () => {
    const state = { status: 'completed', input: {}, output: 'no', metadata: { exit: 2 } }
    const failed = JSON.stringify({ type: 'tool_use', sessionID: 's', part: { tool: 'bash', callID: 'c', state } })
    expect(results(opencode, [failed])[1]).toMatchObject({ success: false })
    const item = {
      id: 'i',
      type: 'command_execution',
      command: 'x',
      aggregated_output: 'no',
      exit_code: 1,
      status: 'failed',
    }
    // A command that was never told to begin has its call too.
    expect(results(codex, [JSON.stringify({ type: 'item.completed', item })])).toEqual([
      { id: 'i', name: 'shell', input: { command: 'x' } },
      { id: 'i', success: false, output: { exitCode: 1, output: 'no' } },
    ])
  })
})

describe('a run that fails is no success, whatever its last line is called', () => {
  it('claude: a result of subtype "success" with is_error', () => {
    const lines = [{ type: 'result', subtype: 'success', is_error: true, result: 'API Error: 529', session_id: 's' }]
    expect(mapped(claudeCode, lines)).toMatchObject({ done: false, finalText: null })
    expect(kinds(claudeCode, ...lines)).toEqual(['Error API Error: 529'])
  })
  it('claude: a limit that was reached, and an error of the service as a message', () => {
    expect(kinds(claudeCode, { type: 'result', subtype: 'error_max_turns', is_error: true, errors: [] })).toEqual([
      'Error error_max_turns',
    ])
    const message = { model: '<synthetic>', content: [{ type: 'text', text: 'Not logged in' }] }
    expect(kinds(claudeCode, { type: 'assistant', error: 'auth', message })).toEqual(['Error Not logged in'])
  })
  it('claude: an error that the last line repeats is told once', () => {
    const message = { model: '<synthetic>', content: [{ type: 'text', text: 'API Error: 401' }] }
    const result = { type: 'result', subtype: 'success', is_error: true, result: 'API Error: 401' }
    expect(kinds(claudeCode, { type: 'assistant', error: 'auth', message }, result)).toEqual([
      'Error API Error: 401',
      'Status failed',
    ])
  })
  it('codex: an error is told once, a reconnection is none', () => {
    const lines = [
      { type: 'error', message: 'Reconnecting... 1/5' },
      { type: 'error', message: 'gone' },
      { type: 'turn.failed', error: { message: 'gone' } },
    ]
    expect(kinds(codex, ...lines)).toEqual(['Status the model is asked again', 'Error gone', 'Status turn failed'])
    expect(mapped(codex, [...CODEX.lines.slice(0, 5), lines[2]!])).toMatchObject({ done: false, finalText: null })
  })
  it('gemini: a result with status "error"', () => {
    const lines = [{ type: 'result', status: 'error', error: { type: 'Error', message: 'quota' }, stats: {} }]
    expect(kinds(gemini, ...lines)).toEqual(['Error quota'])
    expect(mapped(gemini, lines).done).toBe(false)
  })
  it('opencode: a last step that was cut off; of an error its message and status alone are told', () => {
    expect(mapped(opencode, OPENCODE.lines.slice(0, 3))).toMatchObject({ done: false, finalText: null })
    const data = { message: 'bad key', statusCode: 401, responseHeaders: { 'x-raw': 'raw' }, responseBody: 'raw' }
    const { events } = mapped(opencode, [{ type: 'error', sessionID: 's', error: { name: 'APIError', data } }])
    expect(events).toEqual([{ kind: 'Error', message: 'bad key', data: { name: 'APIError', status: 401 } }])
  })
})

describe('what is asked for becomes options', () => {
  it('the prompt is on stdin, never among the arguments', () => {
    for (const agent of [claudeCode, codex, gemini, opencode]) {
      const { args, stdin } = agent.plan({ prompt: '--the prompt' })
      expect([stdin, args.includes('--the prompt')]).toEqual(['--the prompt', false])
    }
  })
  it('sessions', () => {
    expect(plan(claudeCode, { [RESUME]: byId })).toMatch(/--resume s7$/)
    expect(plan(claudeCode, { [FORK]: last })).toMatch(/--continue --fork-session$/)
    expect(plan(codex, { [RESUME]: last })).toMatch(/resume --last -$/)
    expect(plan(codex, { [FORK]: byId })).toMatch(/fork s7 -$/)
    expect(plan(gemini, { [RESUME]: last })).toMatch(/--resume latest$/)
    expect(plan(opencode, { [FORK]: byId })).toMatch(/-s s7 --fork$/)
  })
  it("model, folders, and the caller's sandbox", () => {
    const extensions = { 'agent_api.config.model.v1': 'm', 'agent_api.exec.external_sandbox.v1': true }
    const dirs = { 'agent_api.exec.add_dirs.v1': { dirs: ['/a', '/b'] } }
    expect(plan(claudeCode, { ...extensions, ...dirs })).toMatch(
      /--model m --permission-mode bypassPermissions --add-dir \/a \/b$/,
    )
    expect(plan(codex, { ...extensions, ...dirs })).toMatch(
      /-m m --dangerously-bypass-approvals-and-sandbox --add-dir \/a --add-dir \/b -$/,
    )
    expect(plan(gemini, { ...extensions, ...dirs })).toMatch(
      /--approval-mode yolo -m m --include-directories \/a --include-directories \/b$/,
    )
    expect(plan(opencode, extensions)).toMatch(/-m m --auto$/)
  })
  it('claude that is restricted has no shell, and no servers that its folder names', () => {
    expect(plan(claudeCode, { 'backend.claude_code.restricted': true })).toMatch(/--restricted --strict-mcp-config$/)
    expect(plan(claudeCode, { 'backend.claude_code.restricted': false })).not.toMatch(/restricted|strict/)
  })
  it('what a program does not have is refused', () => {
    expect(refusal(gemini, { [FORK]: byId })).toBe('UnsupportedCapability')
    expect(refusal(opencode, { 'agent_api.exec.add_dirs.v1': { dirs: ['/a'] } })).toBe('UnsupportedCapability')
    expect(refusal(codex, { [FORK]: last })).toBe('InvalidRequest')
    for (const agent of [claudeCode, codex, gemini, opencode])
      expect(refusal(agent, { 'agent_api.exec.non_interactive': false })).toBe('InvalidRequest')
    const sandboxed = { 'agent_api.exec.external_sandbox.v1': true }
    expect(refusal(claudeCode, { ...sandboxed, 'backend.claude_code.permission_mode': 'plan' })).toBe('InvalidRequest')
    expect(refusal(codex, { ...sandboxed, 'backend.codex.sandbox': 'read-only' })).toBe('InvalidRequest')
    expect(refusal(gemini, { ...sandboxed, 'backend.gemini.approval_mode': 'plan' })).toBe('InvalidRequest')
  })
})

test('no mapping throws, whatever stands in the parts of a line', () => {
  const odd = [null, 7, 'RAW', [], {}, [null], [['RAW']], { text: 7 }]
  const types = [...CLAUDE.lines, ...CODEX.lines, ...GEMINI.lines, ...OPENCODE.lines].map((line) => JSON.parse(line))
  for (const agent of [claudeCode, codex, gemini, opencode])
    for (const line of types)
      for (const name of Object.keys(line).filter((key) => key !== 'type'))
        for (const value of odd) {
          const mapping = agent.mapping()
          expect(() => mapping.line({ ...line, [name]: value })).not.toThrow()
          expect(() => mapping.end()).not.toThrow()
        }
})
