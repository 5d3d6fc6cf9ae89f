import fc from 'fast-check'
import { MESSAGE_TOOLS } from '../../../domain/agent/control/registry.ts'
import type { Block } from '../../../domain/calls/content.ts'
import { childAgentId, toolCallId } from '../../../domain/log/ids.ts'
import type { ModelOutcome } from '../../../domain/ports/index.ts'
import type { Model, Stream } from './agents.ts'
import { HAND, treeSpec } from './plans.ts'

// Agents that exchange messages: one root with concurrent children. Each child sends the messages of its part of the
// plan.

/** One action of an agent in a turn. `to`: the index of another child; -1: an agent that does not exist. */
export type Say =
  | { readonly does: 'send' | 'request'; readonly to: number }
  | { readonly does: 'publish' | 'subscribe'; readonly topic: string }

/** The actions of each child, turn by turn. */
export type Chat = readonly (readonly (readonly Say[])[])[]

export const chatArbitrary = (agents: number, turns: number, perTurn: number): fc.Arbitrary<Chat> => {
  const say = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ does: fc.constant('send' as const), to: fc.integer({ min: -1, max: agents - 1 }) }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('request' as const), to: fc.nat(agents - 1) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        does: fc.constantFrom('publish' as const, 'subscribe' as const),
        topic: fc.constantFrom('a', 'b'),
      }),
    },
  )
  const turn = fc.array(say, { minLength: 1, maxLength: perTurn })
  const child = fc.array(turn, { maxLength: turns })
  return fc.array(child, { minLength: agents, maxLength: agents })
}

const TALKER = { ...HAND, maxReactLoop: 200 }

export const chatSpec = () =>
  treeSpec({
    policy: { mode: 'batch', maxParallel: 64 },
    limits: { maxTurns: 200, wallClockMs: null },
    delegation: { maxDepth: 3, agents: 100, roles: { researcher: TALKER, coder: TALKER, reviewer: TALKER } },
    tools: [...treeSpec().tools, ...MESSAGE_TOOLS.map(({ spec }) => spec)],
  })

/** The id of the child at an index of the plan. */
export const talker = (root: string, place: number): string =>
  place < 0 ? 'no-such-agent' : childAgentId(toolCallId(root, 1, place))

const use = (name: string, input: object, id: string): Block => ({ type: 'tool_use', id, name, input: input as never })

/** Answers open requests first, then continues the plan. An agent completes when it has read everything. */
export function chatModel(root: string, chat: Chat): Model {
  return (agent) => {
    const says = (content: readonly Block[]): ModelOutcome => ({
      ...{ content, stopReason: 'tool_use', servedBy: 'test-model' },
      usage: { input: 100, output: 10, cacheRead: 0, cacheWrite: 0 },
    })
    const done = says([use('complete_task', { summary: 'said all' }, 'c')])
    if (agent.state.machine.status === 'RECOVERY') return done
    if (agent.state.parent === null) {
      if (agent.state.turn > 1) return done
      return says([...chat.map((_, i) => use('delegate_to_agent', { role: 'coder', task: String(i) }, `d${i}`))])
    }
    const answers = agent.state.bus.requests
      .filter(({ until }) => until > agent.state.at)
      .map(({ id }, i) => use('respond', { request: id, payload: `re ${id}` }, `r${i}`))
    const place = placeOf(agent)
    const said = agent.events.filter((event) => event.type === 'model_call_end' && talks(event.body.content)).length
    const next = chat[place]![said]
    const says1 = (next ?? []).map((say, i) => block(root, place, say, `${place}.${said}.${i}`))
    return answers.length + says1.length === 0 ? done : says([...answers, ...says1])
  }
}

const talks = (content: readonly Block[]) => content.some(({ id }) => String(id).startsWith('say'))

function block(root: string, place: number, say: Say, text: string): Block {
  const id = `say${text}`
  if ('topic' in say) {
    const payload = say.does === 'publish' ? { payload: text } : {}
    return use(say.does, { topic: say.topic, ...payload }, id)
  }
  const to = say.to === place ? root : talker(root, say.to)
  const awaits = say.does === 'request' && say.to !== place
  return use('send_message', { to, payload: text, ...(awaits ? { expectReply: true } : {}) }, id)
}

function placeOf({ events }: Stream): number {
  const task = events.find((event) => event.type === 'user_input')
  return task?.type === 'user_input' ? Number(task.body.text) : -1
}
