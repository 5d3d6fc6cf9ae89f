import { expect, test } from 'vitest'
import { MESSAGE_TOOLS } from '../../domain/agent/control/registry.ts'
import { agent } from '../../domain/agent/decisions/aggregate.ts'
import type { Block } from '../../domain/agent/events/content.ts'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { MAX_TOPICS, REQUEST_MS } from '../../domain/agent/state/bus.ts'
import { Transcript } from '../../domain/agent/state/messages.ts'
import type { AgentState } from '../../domain/agent/state/state.ts'
import { childAgentId, toolCallId } from '../../domain/log/ids.ts'
import { testSpec } from '../support/harness.ts'
import { Agents, type Model } from '../support/tree/agents.ts'
import { treeSpec } from '../support/tree/plans.ts'

// RuntimeMessageBus, rule by rule (CONTRACTS 4). What holds for any schedule stands in test/laws/tree-messages.

const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 }
const use = (name: string, input: object, n = 0): Block => ({
  ...{ type: 'tool_use', id: `p${n}`, name, input: input as never },
})
const done = [use('complete_task', { summary: 'done' })]
const tools = MESSAGE_TOOLS.map(({ spec }) => spec)
type Says = readonly (readonly Block[])[]

/** Agents say their turns, then complete: the root, and its children by the task that they were given. */
function telling(root: Says, children: Readonly<Record<string, Says>> = {}): Model {
  return ({ state, events }) => {
    const task = events.find(({ type }) => type === 'user_input') as Extract<AgentEvent, { type: 'user_input' }>
    const says = state.parent === null ? root : children[task.body.text.split('\n')[0]!]!
    return { content: says[state.turn - 1] ?? done, stopReason: 'tool_use', usage, servedBy: 'test-model' } as never
  }
}

const together = treeSpec({ policy: { mode: 'batch' }, tools: [...treeSpec().tools, ...tools] })
const alone = testSpec({ policy: { mode: 'batch' }, tools: [...testSpec().tools, ...tools] })

function started(model: Model, spec = alone): Agents {
  const agents = new Agents(model)
  agents.submit('root', { kind: 'start', spec, task: 'do it' })
  return agents
}

/** How the calls of a tool have ended. */
const ends = (agents: Agents, agentId: string, tool: string) =>
  agents
    .of(agentId)
    .events.flatMap(({ type, body }) =>
      type === 'tool_call_end' && body.toolName === tool ? [body.error ?? (body.result as never)] : [],
    )

const typesOf = (agents: Agents, agentId: string) => agents.of(agentId).events.map(({ type }) => type)
const delegate = (task: string, n: number) => use('delegate_to_agent', { role: 'coder', task }, n)
const child = (n: number) => childAgentId(toolCallId('root', 1, n))

test('given a run without other agents, when it sends to an unknown one, then the message bounces and it reads why', () => {
  const agents = started(telling([[use('send_message', { to: 'ghost', payload: 'hello' })]]))
  agents.settle()
  const bounced = agents.of('root').events.find(({ type }) => type === 'message_bounced')
  expect(bounced?.body).toMatchObject({ to: 'ghost', reason: 'there is no such agent' })
  expect(agents.of('root').transcript.messages).toContainEqual({
    role: 'user',
    content: expect.stringMatching(/^\[Your message root\.m\d+ to ghost was not delivered\]\nthere is no such agent$/),
  })
})

test.each([
  ['a message of 10 MB', { to: 'ghost', payload: 'x'.repeat(10_000_000) }, /at most|too (large|long)|1 MiB|bytes/],
  ['a payload of 40 KB', { to: 'ghost', payload: 'x'.repeat(40_000) }, /payload: a message has at most \d+ bytes/],
  ['a message to itself', { to: 'root', payload: 1 }, /sends itself no messages/],
  ['a message to a parent that there is not', { to: 'parent', payload: 1 }, /has no parent/],
  ['a name that is none', { to: 'a b', payload: 1 }, /is no id of an agent/],
])('given %s, when it is sent, then INVALID_ARGUMENTS says why, and nothing is sent', (_, args, why) => {
  const agents = started(telling([[use('send_message', args)]]))
  agents.settle()
  expect(ends(agents, 'root', 'send_message')).toMatchObject([
    { code: 'INVALID_ARGUMENTS', message: expect.stringMatching(why) },
  ])
  expect(typesOf(agents, 'root')).not.toContain('message_sent')
})

test('given a parent that waits for its child, when the child requests an answer of it, then the call is refused by name', () => {
  const ask = [use('send_message', { to: 'parent', payload: 'why?', expectReply: true })]
  const agents = started(telling([[delegate('a', 0)]], { a: [ask] }), together)
  agents.settle()
  expect(ends(agents, child(0), 'send_message')).toMatchObject([
    { code: 'INVALID_ARGUMENTS', message: expect.stringMatching(/waits for you/) },
  ])
})

test('given two agents that ask each other at once, then each is refused with the reason, and neither waits in a circle', () => {
  const ask = (n: number) => [use('send_message', { to: child(n), payload: '?', expectReply: true })]
  const agents = started(telling([[delegate('a', 0), delegate('b', 1)]], { a: [ask(1)], b: [ask(0)] }), together)
  // Both are born, and both have sent, before a courier comes.
  agents.drive('root')
  while (!agents.streams.has(child(1))) {
    agents.drive('root')
    for (const { source, target } of agents.pairs()) agents.deliver(source, target, 'next')
  }
  for (const id of [child(0), child(1)]) while (!typesOf(agents, id).includes('message_sent')) agents.drive(id)
  agents.settle()
  for (const id of [child(0), child(1)])
    expect(ends(agents, id, 'send_message')).toMatchObject([
      {
        code: 'EXECUTION_FAILED',
        message: expect.stringMatching(/no answer comes: it waits for another agent itself/),
      },
    ])
})

test('given a request that is not answered, when 30 s have passed, then the call fails with TIMEOUT, and not before', () => {
  const agents = started(telling([[use('send_message', { to: 'user:ann', payload: '?', expectReply: true })]]))
  while (!typesOf(agents, 'root').includes('message_sent')) agents.drive('root')
  const sent = agents.of('root').events.find(({ type }) => type === 'message_sent')!
  expect(agent.wakeAt(agents.of('root').state)).toBe(sent.at + REQUEST_MS)
  agents.now = sent.at + REQUEST_MS - 10
  agents.drive('root')
  expect(ends(agents, 'root', 'send_message')).toEqual([])
  agents.settle()
  expect(ends(agents, 'root', 'send_message')).toMatchObject([{ code: 'TIMEOUT' }])
})

test('given a request to a person, when the person responds, then the call has the answer; a second one is refused', () => {
  const agents = started(telling([[use('send_message', { to: 'user:ann', payload: 'port?', expectReply: true })]]))
  while (!typesOf(agents, 'root').includes('message_sent')) agents.drive('root')
  const { revision } = agents.of('root').events.find(({ type }) => type === 'message_sent')!
  const response = {
    kind: 'send_message',
    type: 'response',
    payload: 8080,
    correlationId: `root.m${revision}`,
  } as const
  agents.submit('root', response)
  expect(ends(agents, 'root', 'send_message')).toMatchObject([{ from: 'user:u', payload: 8080 }])
  expect(() => agents.submit('root', response)).toThrow(/nothing waits for an answer/)
})

test('given a person’s message, when the next turn starts, then the agent reads it with its sender; a request it can answer', () => {
  const model: Model = (stream) => {
    const [open] = stream.state.bus.requests
    const content = open === undefined ? done : [use('respond', { request: open.id, payload: 'fine' })]
    return { content, stopReason: 'tool_use', usage, servedBy: 'test-model' } as never
  }
  const agents = started(model)
  agents.submit('root', { kind: 'send_message', type: 'request', payload: 'how are you?', topic: 'mood' })
  agents.settle()
  const read = agents.of('root').transcript.messages[1]?.content
  expect(read).toMatch(
    /^\[Request root\.m\d+ from user:u, topic "mood"\. It waits for your answer: .*\]\nhow are you\?$/,
  )
  expect(agents.of('root').events.find(({ type }) => type === 'message_sent')?.body).toMatchObject({
    to: 'user:u',
    type: 'response',
    payload: 'fine',
  })
})

test('given an agent that hears the most topics, when it subscribes to one more, then CONFLICT tells it, wherever it stands', () => {
  const topics = Array.from({ length: MAX_TOPICS + 1 }, (_, n) => use('subscribe', { topic: `t${n}` }, n))
  const agents = started(telling([topics, [delegate('a', 0)]], { a: [topics] }), together)
  agents.settle()
  const codes = (id: string) => ends(agents, id, 'subscribe').filter((end) => typeof end !== 'string')
  const ofChild = [...agents.streams.keys()].find((id) => id !== 'root')!
  for (const id of ['root', ofChild]) expect(codes(id)).toMatchObject([{ code: 'CONFLICT' }])
})

test('given a stream that has lost a message, when another one is sent, then its id tells the loss, so that no lost message had it', () => {
  const model = telling([[use('send_message', { to: 'user:ann', payload: 1 })]])
  const agents = started(model)
  while (!typesOf(agents, 'root').includes('message_sent')) agents.drive('root')
  const whole = agents.of('root').events
  const lost = whole.findIndex(({ type }) => type === 'message_sent')
  const idOf = (events: readonly AgentEvent[]) =>
    events.flatMap(({ type, body }) =>
      type === 'tool_call_end' && body.toolName === 'send_message' ? [(body.result as { sent?: string }).sent] : [],
    )
  const before = idOf(whole)
  // The end is lost from the start of the first turn on, which was accepted; the same revisions are used again.
  const kept = whole.slice(0, 2)
  const transcript = new Transcript()
  for (const event of kept) transcript.push(event)
  const state = kept.reduce<AgentState | null>((at, event) => agent.evolve(at, event), null)!
  agents.streams.set('root', { events: [...kept], transcript, state })
  agents.submit('root', { kind: 'accept_loss', loss: { revision: whole.length - 1, hash: null, calls: [] } })
  while (!typesOf(agents, 'root').includes('message_sent')) agents.drive('root')
  const again = agents.of('root').events.findIndex(({ type }) => type === 'message_sent')
  expect(again).toBe(lost + 1)
  expect(agents.of('root').events[again]!.body).toMatchObject({ losses: 1 })
  agents.settle()
  const after = idOf(agents.of('root').events)
  expect(after).toEqual([`root.m${again}+1`])
  expect(before).not.toEqual(after)
})
