import { expect, test } from 'vitest'
import { AgentSpans } from '../../domain/agent/rules/telemetry.ts'
import { type Attributes, CallSpans, type RunSpans } from '../../domain/calls/telemetry.ts'
import { ExternalSpans } from '../../domain/external/telemetry.ts'

const run = (content: boolean): RunSpans => ({
  ...{ runId: 'r', traceId: '0'.repeat(32), parentSpanId: null, link: null, user: null, content },
})

/** An event of the run's root agent. */
const event = (revision: number, type: string, body: object, more: object = {}) => ({
  ...{ id: `event-${revision}`, stream: 'agent-r', erased: false, revision, at: revision * 10, turn: 1 },
  ...{ actor: { kind: 'user', id: 'ann' }, runId: 'r', agentId: 'r', type, body, ...more },
})

/** The spans of another agent that has these events after its start. */
function externalSpans(content: boolean, events: readonly (readonly [type: string, body: object])[]) {
  const spans = new ExternalSpans(run(content))
  const all = [['external_started', { backend: 'acp', request: { prompt: 'do it' }, capabilities: [] }] as const]
  const added = [...all, ...events].flatMap(([type, body], revision) =>
    spans.add(event(revision, type, body) as Parameters<ExternalSpans['add']>[0]),
  )
  return [...added, spans.end(null)!]
}

test("another agent's name of a tool is in its span without content only if it cannot be a text", () => {
  const reported = (message: string) => ({
    first: 0,
    events: [
      { kind: 'ToolCall', message, data: { id: 'c' } },
      { kind: 'ToolResult', data: { id: 'c', success: true } },
    ],
  })
  const nameOf = (content: boolean, message: string) => {
    const [span] = externalSpans(content, [['agent_events', reported(message)]])
    expect(span!.name).toBe(`execute_tool ${span!.attributes['gen_ai.tool.name']}`)
    return span!.attributes['gen_ai.tool.name']
  }
  const title = 'Read /home/ann/diagnosis.txt'
  expect([nameOf(false, title), nameOf(true, title)]).toEqual(['tool', title])
  expect(['mcp__a:b.c-d', 'x'.repeat(65)].map((name) => nameOf(false, name))).toEqual(['mcp__a:b.c-d', 'tool'])
})

test("figures of another agent's session, which count earlier runs, are in no span", () => {
  const cost = (scope: string) => ({ nanoDollars: 2e9, scope })
  const usage = { inputTokens: 7, cachedInputTokens: 1, outputTokens: 3 }
  const figuresOf = (body: object): Attributes => {
    const { attributes } = externalSpans(false, [['usage_reported', body]]).at(-1)!
    return Object.fromEntries(Object.entries(attributes).filter(([name]) => /usage|cost/.test(name)))
  }
  const tokens = {
    'gen_ai.usage.input_tokens': 7,
    'gen_ai.usage.cache_read.input_tokens': 1,
    'gen_ai.usage.output_tokens': 3,
  }
  const costs = {
    'keepup.cost.nano_dollars': 2e9,
    'gen_ai.usage.cost': { double: 2 },
    'llm.cost.total': { double: 2 },
  }
  expect(figuresOf({ ...usage, scope: 'run', cost: cost('run') })).toEqual({ ...tokens, ...costs })
  expect(figuresOf({ ...usage, scope: 'run', cost: cost('session') })).toEqual(tokens)
  expect(figuresOf({ ...usage, scope: 'session', cost: cost('run') })).toEqual(costs)
  expect(figuresOf({ ...usage, scope: 'session', cost: cost('session') })).toEqual({})
})

test('a summary leaves the prompt and the messages to the next turn, and each attempt of a turn has them', () => {
  const spans = new AgentSpans(run(true), 'agent-r')
  const start = (purpose: string, attempt: number) => ({
    ...{ purpose, attempt, model: 'm', estimate: { input: 1, maxOutput: 1, nanoDollars: null } },
  })
  const failed = { error: { code: 'OVERLOADED', message: 'busy' } }
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
  const end = { usage, nanoDollars: 1, servedBy: 'm', stopReason: 'end_turn', content: [], calls: [] }
  const events = [
    event(0, 'agent_started', { spec: { models: { requested: 'm', known: [] } } }),
    event(1, 'prompt_set', { system: 'be brief' }),
    event(2, 'user_input', { text: 'first' }),
    event(3, 'model_call_start', start('summary', 1)),
    event(4, 'summary_failed', failed),
    event(5, 'model_call_start', start('turn', 2)),
    event(6, 'error', { code: 'OVERLOADED', error: 'busy', attempt: 2, recoverable: true }),
    event(7, 'model_call_start', start('turn', 3)),
    event(8, 'model_call_end', end),
    event(9, 'user_input', { text: 'second' }),
    event(10, 'model_call_start', start('turn', 2), { turn: 2 }),
    event(11, 'model_call_end', end, { turn: 2 }),
  ]
  const chats = events.flatMap((one) => spans.add(one as Parameters<AgentSpans['add']>[0]))
  const shown = chats.map(({ attributes }) => attributes['gen_ai.input.messages'])
  const messages = (text: string) => JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: text }] }])
  expect(shown).toEqual([undefined, messages('first'), messages('first'), messages('second')])
  expect(chats.map(({ attributes }) => attributes['gen_ai.system_instructions'] !== undefined)).toEqual([
    ...[false, true, false, false],
  ])
})

test('a call that ends without an attempt after a person ran it again has a span of its own', () => {
  const spans = new CallSpans(run(false), 'parent', () => undefined)
  const body = { toolName: 'send', argumentsRef: { revision: 0, block: 0 } }
  const error = { code: 'CANCELLED', message: 'stopped' }
  const [first, second, ...more] = [
    event(1, 'tool_call_start', { ...body, intent: {}, attempt: 1 }),
    event(2, 'tool_call_unknown', { attempt: 1, reason: 'lost' }),
    event(3, 'tool_call_resolved', { decision: 'run' }),
    event(4, 'tool_call_end', { ...body, success: false, error }),
  ].flatMap((one) => spans.add({ ...one, toolCallId: 'c' } as Parameters<CallSpans['add']>[0]) ?? [])
  expect(more).toEqual([])
  expect([first?.attributes['keepup.event_id'], second?.attributes['keepup.event_id']]).toEqual(['event-1', 'event-3'])
  expect(second?.spanId).not.toBe(first?.spanId)
  expect(second).toMatchObject({ start: 30, end: 40, attributes: { 'keepup.ran': false, 'keepup.attempt': 1 } })
})
