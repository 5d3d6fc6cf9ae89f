import type { Block } from '../../../domain/calls/content.ts'
import type { ModelOutcome, ModelRequest } from '../../../domain/ports/index.ts'
import type { Plan } from './plans.ts'

export const use = (name: string, input: object, id: string): Block => ({
  type: 'tool_use',
  id,
  name,
  input: input as never,
})

export const says = (content: readonly Block[], stopReason: ModelOutcome['stopReason']): ModelOutcome => ({
  ...{ content, stopReason, servedBy: 'test-model' },
  usage: { input: 300, output: 40, cacheRead: 0, cacheWrite: 0 },
})

/** Every second call has an effect outside the run. */
const looks = (count: number): Block[] =>
  Array.from({ length: count }, (_, i) => use(i % 2 === 0 ? 'look' : 'send', { i }, `l${i}`))

/** The planned answer of an agent's model. Each agent finds its part of the plan by the path in its task. */
export function answerOf(plan: Plan, { messages, tools }: ModelRequest): ModelOutcome {
  const path = pathOf(textOf(messages[0]?.content))
  const part = path.reduce((at, [n, i]) => at.rounds[n]!.children[i]!, plan)
  const turn = messages.filter(({ role }) => role === 'assistant').length
  if (tools.length === 1) return says([use('complete_task', { summary: 'so far' }, 'r')], 'tool_use')
  const next = part.rounds[turn]
  if (next !== undefined) {
    const delegations = next.children.map((_, i) => {
      const task = [...path, [turn, i]].map(([n, c]) => `${n}:${c}`).join('.')
      return use('delegate_to_agent', { role: 'coder', task }, `p${i}`)
    })
    return says([...delegations, ...looks(next.children.length + next.looks === 0 ? 1 : next.looks)], 'tool_use')
  }
  if (part.ends === 'completes')
    return says([use('complete_task', { summary: `done ${path.length}` }, 'c')], 'tool_use')
  const text = [{ type: 'text', text: 'no more' }]
  return part.ends === 'talks' ? says(text, 'end_turn') : says(text, 'refusal')
}

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : ((content as { text?: string }[])[0]?.text ?? '')

/** The rounds and calls from the root to an agent. */
const pathOf = (task: string): [number, number][] =>
  /^\d+:\d+/.test(task) ? task.split('.').map((step) => step.split(':').map(Number) as [number, number]) : []
