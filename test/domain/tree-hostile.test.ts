import { expect, test } from 'vitest'
import { totals } from '../../domain/agent/state/budget-account.ts'
import { MAX_TOPICS } from '../../domain/agent/state/message-bus.ts'
import { SHOWN_BYTES } from '../../domain/calls/result-text.ts'
import { RESULT_BYTES } from '../../domain/calls/truncate.ts'
import type { Agents } from '../support/tree/agents.ts'
import { child, DONE, delegate, type Says, started, TOGETHER, telling, typesOf, use } from '../support/tree/telling.ts'

// A child whose model means harm, or repeats itself: each attempt is refused by name or bounded, and its parent goes on.

const BATCH = 128
const many = (of: (n: number) => ReturnType<typeof use>) => Array.from({ length: BATCH }, (_, n) => of(n))
const turns = (count: number, turn: Says[number]): Says => Array.from({ length: count }, () => turn)

/** A root that starts these children, and completes when they have ended. */
function family(children: Readonly<Record<string, Says>>, spec = TOGETHER, before: Says = []): Agents {
  const agents = started(telling([...before, Object.keys(children).map(delegate)], children), spec)
  agents.settle()
  return agents
}

/** How the calls of a tool ended: the codes, or ok. */
const ends = (agents: Agents, id: string, tool: string) =>
  agents
    .of(id)
    .events.flatMap(({ type, body }) =>
      type === 'tool_call_end' && body.toolName === tool ? [body.error?.code ?? 'ok'] : [],
    )
const textsOf = (agents: Agents, id: string, tool: string) =>
  agents
    .of(id)
    .events.flatMap(({ type, body }) =>
      type === 'tool_call_end' && body.toolName === tool && !body.success ? [body.error!.message] : [],
    )

/** The parent has completed, and no state has grown with what was tried. */
function expectUnharmed(agents: Agents): void {
  expect(agents.of('root').state.machine.status).toBe('DONE')
  for (const [id, { state }] of agents.streams) {
    const { spec: _, ...kept } = state
    expect(Buffer.byteLength(JSON.stringify(kept)), id).toBeLessThan(24 * 1024)
  }
}

test('given a summary of 1 MiB, when a child completes with it, then its parent reads head, tail and size, and keeps none of it', () => {
  const summary = `first ${'x'.repeat(1_000_000)} last`
  const agents = family({ a: [[use('complete_task', { summary })]] })
  const read = agents.of('root').transcript.messages.find(({ role }) => role === 'tool')!
  const text = read.content as string
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(SHOWN_BYTES + 1_024)
  expect(text).toMatch(/first x.* bytes left out.*x last/s)
  expectUnharmed(agents)
})

test.each([
  ['complete_task', { summary: 'done' }],
  ['advance_phase', { summary: 'on' }],
])(
  'given 4,000 artifacts, when %s names them, then INVALID_ARGUMENTS says how many it may name, and none is registered',
  (tool, input) => {
    const inline = (n: number) => ({ type: 'report', title: `r${n}`, content: 'c' })
    const named = (count: number) =>
      Array.from({ length: count }, (_, n) => (tool === 'complete_task' ? `f${n}` : inline(n)))
    const phased = {
      ...TOGETHER.delegation!.roles.coder!,
      phases: ['a', 'b'].map((name) => ({ name, allowedTools: ['look'] })),
    }
    const roles = { ...TOGETHER.delegation!.roles, coder: phased }
    const spec = { ...TOGETHER, delegation: { ...TOGETHER.delegation!, roles } }
    const agents = family({ a: [[use(tool, { ...input, artifacts: named(4_000) })]] }, spec)
    expect(ends(agents, child(0), tool)[0]).toBe('INVALID_ARGUMENTS')
    expect(textsOf(agents, child(0), tool)[0]).toContain('artifacts: a call names at most 1000, not 4000')
    expect(typesOf(agents, child(0))).not.toContain('artifact_registered')
    expectUnharmed(agents)
  },
)

test('given floods of the longest messages to parent and sibling, then each takes what its context has room for, and the sender is told', () => {
  const payload = 'x'.repeat(RESULT_BYTES - 2)
  const flood = turns(
    2,
    many((n) => use('send_message', { to: n % 2 === 0 ? 'parent' : child(1), payload }, n)),
  )
  const waits: Says = turns(6, [use('look', {})])
  const agents = family({ a: flood, b: waits })
  const [sent, settled] = [2 * BATCH, outcomes(agents, child(0))]
  expect(typesOf(agents, child(0)).filter((type) => type === 'message_sent')).toHaveLength(sent)
  expect(settled.taken).toBeGreaterThan(2)
  expect(settled.refused.length).toBeGreaterThan(sent / 4)
  expect(settled.taken + settled.refused.length + settled.gone).toBe(sent)
  expect(settled.refused[0]).toMatch(/^it was not taken, because \d+ bytes wait for the next turn of its recipient/)
  expectUnharmed(agents)
  for (const id of ['root', child(1)]) expect(typesOf(agents, id)).not.toContain('error')
})

test('given publications of the longest payload, then the root and the others that hear them are not flooded either', () => {
  const payload = 'x'.repeat(RESULT_BYTES - 2)
  const hears = [use('subscribe', { topic: 'news' })]
  const storm = turns(
    2,
    many((n) => use('publish', { topic: 'news', payload }, n)),
  )
  const agents = family({ a: storm, b: [hears, ...turns(6, [use('look', {})])] }, TOGETHER, [hears])
  expect(outcomes(agents, child(0, 2)).refused.length).toBeGreaterThan(BATCH)
  expectUnharmed(agents)
})

/** What became of the messages that an agent has sent: how many were taken, why some were not, how many found none there. */
function outcomes(agents: Agents, sender: string) {
  const all = [...agents.streams].flatMap(([, { events }]) => events)
  const taken = all.filter(
    ({ type, body }) => type === 'message_received' && body.from === sender && body.type === 'event',
  )
  const refused = all.flatMap(({ type, body }) =>
    type === 'message_sent' && body.to === sender && body.refused !== undefined ? [body.refused] : [],
  )
  const gone = agents.of(sender).events.flatMap(({ type, body }) => (type === 'delivered' ? body.bounced : []))
  return { taken: taken.length, refused, gone: gone.length }
}

test('given a child that names itself, as a recipient or by any of its names, then INVALID_ARGUMENTS, and nothing is sent', () => {
  const self = [child(0), ` ${child(0)} `].map((to, n) => use('send_message', { to, payload: 1 }, n))
  const asks = [use('send_message', { to: child(0), payload: 1, expectReply: true })]
  const agents = family({ a: [self, asks] })
  expect(ends(agents, child(0), 'send_message')).toEqual([
    'INVALID_ARGUMENTS',
    'INVALID_ARGUMENTS',
    'INVALID_ARGUMENTS',
  ])
  for (const text of textsOf(agents, child(0), 'send_message'))
    expect(text).toContain('an agent sends itself no messages')
  expect(typesOf(agents, child(0))).not.toContain('message_sent')
  expectUnharmed(agents)
})

test('given names of objects as topics and recipients, then they are topics and unknown agents like any others', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const agents = family({
    a: [
      names.map((topic, n) => use('subscribe', { topic }, n)),
      names.map((topic, n) => use('publish', { topic, payload: 1 }, n)),
      names.map((to, n) => use('send_message', { to, payload: 1 }, n)),
    ],
  })
  const codes = ['subscribe', 'publish', 'send_message'].flatMap((tool) => ends(agents, child(0), tool))
  expect(codes.filter((code) => code === 'ok').length).toBeGreaterThan(8)
  expect(codes.filter((code) => code !== 'ok' && code !== 'INVALID_ARGUMENTS')).toEqual([])
  expectUnharmed(agents)
})

test('given a storm of publications and topics, then an agent hears so many topics at most, and each hearer reads each once or refuses it', () => {
  const topics = many((n) => use('subscribe', { topic: n === 0 ? 'news' : `t${n}` }, n))
  const storm = turns(
    2,
    many((n) => use('publish', { topic: 'news', payload: n }, n)),
  )
  const hears: Says = [[use('subscribe', { topic: 'news' })], ...turns(4, [use('look', {})])]
  const agents = family({ a: [topics, ...storm], b: hears }, TOGETHER, [[use('subscribe', { topic: 'news' })]])
  expect(ends(agents, child(0, 2), 'subscribe').filter((code) => code === 'ok')).toHaveLength(MAX_TOPICS)
  expect(ends(agents, child(0, 2), 'publish')).toEqual(Array.from({ length: 2 * BATCH }, () => 'ok'))
  const heard = agents
    .of('root')
    .events.flatMap(({ type, body }) => (type === 'message_received' && body.topic === 'news' ? [body.id] : []))
  expect(heard.length).toBeGreaterThan(BATCH)
  expect(heard.length + typesOf(agents, 'root').filter((type) => type === 'message_sent').length).toBe(2 * BATCH)
  expect(new Set(heard).size).toBe(heard.length)
  expectUnharmed(agents)
})

test('given a child that asks for agents and budget without end, then each call asks once, and its parent keeps enough to go on', () => {
  const tokens = 400_000
  const greedy = turns(6, ({ state }) => (state.depth === 1 ? many((n) => delegate('leaf', n)) : DONE))
  const spec = { ...TOGETHER, budget: { tokens, nanoDollars: null } }
  const agents = family({ a: greedy, leaf: [DONE] }, spec)
  const asked = typesOf(agents, child(0)).filter((type) => type === 'budget_requested').length
  const calls = ends(agents, child(0), 'delegate_to_agent')
  expect(asked).toBeGreaterThan(0)
  expect(asked).toBeLessThanOrEqual(calls.length + 6)
  expect(new Set(calls)).toEqual(new Set(['ok', 'BUDGET_EXCEEDED', 'AGENT_LIMIT']))
  const { spent } = totals(agents.of('root').state)
  expect(spent.input + spent.output).toBeLessThanOrEqual(tokens)
  expect(agents.streams.size).toBeLessThanOrEqual(100)
  expectUnharmed(agents)
})
