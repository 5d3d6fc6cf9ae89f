import { MESSAGE_TOOLS } from '../../../domain/agent/control/registry.ts'
import type { AgentEvent } from '../../../domain/agent/events/events.ts'
import type { Block } from '../../../domain/calls/content.ts'
import { childAgentId, toolCallId } from '../../../domain/log/ids.ts'
import { testSpec } from '../harness.ts'
import { Agents, type Book, type Model, type Stream } from './agents.ts'
import { treeSpec } from './plans.ts'

// Agents with scripted turns, for stories about messages.

export const use = (name: string, input: object, n = 0): Block => ({
  ...{ type: 'tool_use', id: `p${n}`, name, input: input as never },
})
export const DONE = [use('complete_task', { summary: 'done' })]

/** The calls of a turn, or a function of the agent's stream that returns them. */
type Turn = readonly Block[] | ((agent: Stream) => readonly Block[])
export type Says = readonly Turn[]

const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 }

/** Agents make the calls of their turns, then complete. A child's turns are selected by its task. */
export function telling(root: Says, children: Readonly<Record<string, Says>> = {}): Model {
  return (agent) => {
    const { state, events } = agent
    const task = events.find(({ type }) => type === 'user_input') as Extract<AgentEvent, { type: 'user_input' }>
    const says = state.parent === null ? root : children[task.body.text.split('\n')[0]!]!
    const turn = says[state.turn - 1] ?? DONE
    const content = typeof turn === 'function' ? turn(agent) : turn
    return { content, stopReason: 'tool_use', usage, servedBy: 'test-model' }
  }
}

const tools = MESSAGE_TOOLS.map(({ spec }) => spec)
/** The specs of a run with delegation and of a run without it. */
export const TOGETHER = treeSpec({ policy: { mode: 'batch' }, tools: [...treeSpec().tools, ...tools] })
const ALONE = testSpec({ policy: { mode: 'batch' }, tools: [...testSpec().tools, ...tools] })

export function started(model: Model, spec = ALONE, book?: Book): Agents {
  const agents = new Agents(model, undefined, book)
  agents.submit('root', { kind: 'start', spec, task: 'do it' })
  return agents
}

export const typesOf = (agents: Agents, agentId: string) => agents.of(agentId).events.map(({ type }) => type)
export const delegate = (task: string, n: number): Block => use('delegate_to_agent', { role: 'coder', task }, n)
/** The child that the root delegated in a call of a turn. */
export const child = (n: number, turn = 1): string => childAgentId(toolCallId('root', turn, n))

/** Drives an agent until its stream contains an event of the type. */
export function driveTo(agents: Agents, agentId: string, type: AgentEvent['type']): void {
  while (!typesOf(agents, agentId).includes(type))
    if (!agents.drive(agentId)) throw new Error(`${agentId} rests before any ${type}`)
}

/** Drives an agent until it has no more work. */
export function toRest(agents: Agents, agentId: string): void {
  while (agents.drive(agentId));
}

/** Delivers all obligations, also those that follow. */
export function bringAll(agents: Agents): void {
  for (let pairs = agents.pairs(); pairs.length > 0; pairs = agents.pairs())
    for (const { source, target } of pairs) agents.deliver(source, target, 'next')
}
