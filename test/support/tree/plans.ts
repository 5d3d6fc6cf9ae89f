import fc from 'fast-check'
import { delegateToAgent } from '../../../domain/agent/control/delegate-to-agent.ts'
import { controlTools } from '../../../domain/agent/control/registry.ts'
import type { Block } from '../../../domain/calls/content.ts'
import type { ModelOutcome } from '../../../domain/ports/index.ts'
import type { AgentSpec, RoleDefinition } from '../../../domain/tree/spec.ts'
import { testSpec, toolSpec } from '../harness.ts'
import type { Model, Stream } from './agents.ts'

/** The plan of one agent of a tree: rounds of delegations and looks, then its end. */
export interface Plan {
  readonly rounds: readonly { readonly children: readonly Plan[]; readonly looks: number }[]
  readonly ends: 'completes' | 'talks' | 'refuses'
}

const ends = fc.constantFrom<Plan['ends']>('completes', 'completes', 'completes', 'talks', 'refuses')
const round = (child: fc.Arbitrary<Plan>, most: number) =>
  fc.record({ children: fc.array(child, { maxLength: most }), looks: fc.nat(2) })

const leaf: fc.Arbitrary<Plan> = fc.record({
  rounds: fc.array(round(fc.constant(null as never), 0), { maxLength: 1 }),
  ends,
})
const middle: fc.Arbitrary<Plan> = fc.record({ rounds: fc.array(round(leaf, 2), { maxLength: 2 }), ends })
export const treeArbitrary: fc.Arbitrary<Plan> = fc.record({
  rounds: fc.array(round(middle, 3), { minLength: 1, maxLength: 2 }),
  ends: fc.constant('completes' as const),
})

/** A role with one phase that allows every tool of the tests. */
export const HAND: RoleDefinition = {
  name: 'Hand',
  profile: 'does what it is told',
  goal: 'do it',
  phases: [{ name: 'work', allowedTools: ['look', 'read_file'] }],
  qualityGates: [],
  maxReactLoop: 8,
}

export function treeSpec(more: Record<string, unknown> = {}, delegation: Record<string, unknown> = {}): AgentSpec {
  const { maxDepth = 3, agents = 100 } = delegation
  return testSpec({
    policy: { mode: 'batch' },
    tools: [...controlTools(null), delegateToAgent.spec, toolSpec('look', { effect: 'pure' })],
    delegation: { maxDepth, agents, roles: { researcher: HAND, coder: HAND, reviewer: HAND } },
    ...more,
  })
}

const HANDY = { ...HAND, phases: [{ name: 'work', allowedTools: ['look', 'send'] }] }

/** The spec of a run whose agents call `look` and the irreversible `send`. */
export function worldSpec(more: Record<string, unknown> = {}, delegation: Record<string, unknown> = {}): AgentSpec {
  const spec = treeSpec(
    {
      tools: [
        ...controlTools(null),
        delegateToAgent.spec,
        toolSpec('look', { effect: 'pure' }),
        toolSpec('send', { effect: 'irreversible' }),
      ],
      ...more,
    },
    delegation,
  )
  return { ...spec, delegation: { ...spec.delegation!, roles: { coder: HANDY } } }
}

const use = (name: string, input: object, id: string): Block => ({ type: 'tool_use', id, name, input: input as never })

/**
 * A model that carries out a plan. Each agent finds its part by the path in its task. The same question may be
 * repeated.
 */
export function modelOf(plan: Plan): Model {
  return (agent) => {
    const path = pathOf(agent)
    const part = path.reduce((at, [n, i]) => at.rounds[n]!.children[i]!, plan)
    const next = part.rounds[agent.state.turn - 1]
    const { estimate } = calling(agent)
    const usage = { input: Math.min(estimate.input, 300), output: 40 + path.length, cacheRead: 0, cacheWrite: 0 }
    const says = (content: readonly Block[], stopReason: ModelOutcome['stopReason']): ModelOutcome => ({
      ...{ content, stopReason, usage, servedBy: 'test-model' },
    })
    if (agent.state.machine.status === 'RECOVERY')
      return says([use('complete_task', { summary: 'so far' }, 'r')], 'tool_use')
    if (next !== undefined && next.children.length + next.looks > 0) {
      const delegations = next.children.map((_, i) => {
        const task = [...path, [agent.state.turn - 1, i]].map(([n, c]) => `${n}:${c}`).join('.')
        return use('delegate_to_agent', { role: 'coder', task }, `p${i}`)
      })
      const looks = Array.from({ length: next.looks }, (_, i) => use('look', { i }, `l${i}`))
      return says([...delegations, ...looks], 'tool_use')
    }
    if (next !== undefined) return says([use('look', {}, 'l')], 'tool_use')
    if (part.ends === 'completes')
      return says([use('complete_task', { summary: `done ${path.length}` }, 'c')], 'tool_use')
    const text = [{ type: 'text', text: 'no more' }]
    return part.ends === 'talks' ? says(text, 'end_turn') : says(text, 'refusal')
  }
}

/** The place of an agent in the plan: the rounds and calls from the root. */
function pathOf({ events }: Stream): [number, number][] {
  const task = events.find((event) => event.type === 'user_input')
  if (task?.type !== 'user_input' || task.body.text === 'do it') return []
  return task.body.text.split('.').map((step) => step.split(':').map(Number) as [number, number])
}

function calling({ events }: Stream) {
  const start = events.findLast((event) => event.type === 'model_call_start')
  if (start?.type !== 'model_call_start') throw new Error('no model call was begun')
  return start.body
}
