import { expect, test } from 'vitest'
import { agent } from '../../domain/agent/decide/aggregate.ts'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { MAX_TOPICS, REQUEST_MS } from '../../domain/agent/state/message-bus.ts'
import type { AgentState } from '../../domain/agent/state/state.ts'
import { Transcript } from '../../domain/agent/state/transcript.ts'
import type { Agents, Stream } from '../support/tree/agents.ts'
import {
  bringAll,
  child,
  delegate,
  driveTo,
  started,
  TOGETHER,
  telling,
  toRest,
  typesOf,
  use,
} from '../support/tree/telling.ts'

// RuntimeMessageBus, rule by rule (CONTRACTS 4). What holds for any schedule stands in test/laws/tree-messages.

/** How the calls of a tool have ended. */
const ends = (agents: Agents, agentId: string, tool: string) =>
  agents
    .of(agentId)
    .events.flatMap(({ type, body }) =>
      type === 'tool_call_end' && body.toolName === tool ? [body.error ?? (body.result as never)] : [],
    )

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
  const agents = started(telling([[delegate('a', 0)]], { a: [ask] }), TOGETHER)
  agents.settle()
  expect(ends(agents, child(0), 'send_message')).toMatchObject([
    { code: 'INVALID_ARGUMENTS', message: expect.stringMatching(/waits for you/) },
  ])
})

test('given two agents that ask each other at once, then each is refused with the reason, and neither waits in a circle', () => {
  const ask = (n: number) => [use('send_message', { to: child(n), payload: '?', expectReply: true })]
  const agents = started(telling([[delegate('a', 0), delegate('b', 1)]], { a: [ask(1)], b: [ask(0)] }), TOGETHER)
  // Both are born, and both have sent, before a courier comes.
  toRest(agents, 'root')
  bringAll(agents)
  for (const id of [child(0), child(1)]) driveTo(agents, id, 'message_sent')
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
  driveTo(agents, 'root', 'message_sent')
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
  driveTo(agents, 'root', 'message_sent')
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
  const answers = ({ state }: Stream) => [use('respond', { request: state.bus.requests[0]?.id, payload: 'fine' })]
  const agents = started(telling([answers]))
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
  const agents = started(telling([topics, [delegate('a', 0)]], { a: [topics] }), TOGETHER)
  agents.settle()
  const codes = (id: string) => ends(agents, id, 'subscribe').filter((end) => typeof end !== 'string')
  const ofChild = [...agents.streams.keys()].find((id) => id !== 'root')!
  for (const id of ['root', ofChild]) expect(codes(id)).toMatchObject([{ code: 'CONFLICT' }])
})

test('given a subscriber, when a message that was sent before its birth bounces, then it still hears its topic', () => {
  const hears = [use('subscribe', { topic: 'news' })]
  const asks = [use('send_message', { to: 'user:ada', payload: 'more?', expectReply: true })]
  const first = [delegate('a', 0), use('send_message', { to: child(0), payload: 'too early' }, 1)]
  const agents = started(telling([first], { a: [hears, asks] }), TOGETHER)
  toRest(agents, 'root')
  const target = `agent-${child(0)}`
  agents.deliver('root', target, 'next')
  toRest(agents, child(0))
  agents.deliver(child(0), 'agent-root', 'next')
  expect(agents.of('root').state.bus.subscribers).toEqual({ news: [child(0)] })
  agents.deliver('root', target, 'next')
  const { bus } = agents.of('root').state
  const [told] = agents.of('root').events.flatMap(({ type, body }) => (type === 'delivered' ? body.bounced : []))
  expect(told).toEqual({ revision: expect.any(Number), reason: expect.stringMatching(/sent before/), stays: true })
  expect(bus.subscribers).toEqual({ news: [child(0)] })
  agents.settle()
})

test('given a subscriber that has finished, when a publication bounces, then it hears no topic any more', () => {
  const hears = [use('subscribe', { topic: 'news' })]
  const news = [use('publish', { topic: 'news', payload: 1 })]
  const agents = started(telling([[delegate('a', 0)], news], { a: [hears] }), TOGETHER)
  agents.settle()
  expect(agents.of('root').state.bus.subscribers).toEqual({})
})

test('given a stream that has lost a message, when another one is sent, then its id tells the loss, so that no lost message had it', () => {
  const model = telling([[use('send_message', { to: 'user:ann', payload: 1 })]])
  const agents = started(model)
  driveTo(agents, 'root', 'message_sent')
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
  driveTo(agents, 'root', 'message_sent')
  const again = agents.of('root').events.findIndex(({ type }) => type === 'message_sent')
  expect(again).toBe(lost + 1)
  expect(agents.of('root').events[again]!.body).toMatchObject({ losses: 1 })
  agents.settle()
  const after = idOf(agents.of('root').events)
  expect(after).toEqual([`root.m${again}+1`])
  expect(before).not.toEqual(after)
})
