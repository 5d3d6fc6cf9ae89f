import { expect, test } from 'vitest'
import { says, use } from '../../support/tree/planned-model.ts'
import { worldSpec } from '../../support/tree/plans.ts'
import { ROOT, TreeWorld } from '../../support/tree/world.ts'

// Bad input for delegation (CONTRACTS 4): each is refused by name, starts no agent, and keeps the run from nothing.

interface Bad {
  readonly name: string
  readonly input: object
  readonly code: string
  /** Part of what the model reads. */
  readonly text: string
  readonly spec?: Parameters<typeof worldSpec>
  /** Agents that there are in the end: the root and those that may be started before. */
  readonly agents?: number
}

const task = { role: 'coder', task: 'do a part' }
const TABLE: readonly Bad[] = [
  { name: 'an unknown role', input: { ...task, role: 'wizard' }, code: 'INVALID_ARGUMENTS', text: 'role' },
  {
    ...{ name: 'a role that the run does not have', input: { ...task, role: 'analyst' } },
    ...{ code: 'INVALID_ARGUMENTS', text: 'there is no role "analyst" in this run' },
  },
  { name: 'a blank task', input: { ...task, task: ' \n' }, code: 'INVALID_ARGUMENTS', text: 'task' },
  {
    ...{ name: 'a constraint that is no string', input: { ...task, constraints: ['look', 7] } },
    ...{ code: 'INVALID_ARGUMENTS', text: 'constraints.1' },
  },
  {
    ...{ name: 'a constraint that names no tool', input: { ...task, constraints: ['be kind', 'fly'] } },
    ...{ code: 'INVALID_ARGUMENTS', text: 'constraints.1: matches no tool that you may use' },
  },
  {
    ...{ name: 'a right that the parent lacks', input: { ...task, constraints: ['send'] } },
    ...{ code: 'INVALID_ARGUMENTS', text: 'constraints.0: matches no tool that you may use' },
    spec: [{ policy: { mode: 'batch', deniedTools: ['send'] } }],
  },
  { name: 'an unknown argument', input: { ...task, depth: 9 }, code: 'INVALID_ARGUMENTS', text: 'depth' },
  {
    ...{
      name: 'an agent at depth 4',
      input: task,
      code: 'DEPTH_LIMIT',
      text: 'an agent at depth 3 delegates to no other',
    },
    agents: 4,
  },
  {
    ...{
      name: 'an agent more than the run may have',
      input: task,
      code: 'AGENT_LIMIT',
      text: 'no agent left to start',
    },
    ...{ spec: [{}, { agents: 3 }], agents: 3 },
  },
  {
    ...{ name: 'an agent for which the budget has no room', input: task, code: 'BUDGET_EXCEEDED', text: 'no room' },
    spec: [{ budget: { tokens: 12_000, nanoDollars: null } }],
  },
]

test.each(TABLE)('$name is refused with $code', async ({ input, code, text, spec = [], agents = 1 }) => {
  const world = new TreeWorld({ rounds: [], ends: 'completes' }, undefined, worldSpec(...spec))
  const read: string[] = []
  // Each agent delegates once, and completes whatever comes of it.
  world.answer = ({ messages }) => {
    if (!messages.some(({ role }) => role === 'assistant'))
      return says([use('delegate_to_agent', input, 'd')], 'tool_use')
    read.push(JSON.stringify(messages))
    return says([use('complete_task', { summary: 'done' }, 'c')], 'tool_use')
  }
  expect(await world.live()).toEqual({ end: 'done' })
  const ids = await world.agents()
  expect(ids).toHaveLength(agents)
  const all = (await Promise.all(ids.map((id) => world.events(id)))).flat()
  const failed = all.flatMap((event) =>
    event.type === 'tool_call_end' && !event.body.success ? [event.body.error] : [],
  )
  expect(failed).toEqual([expect.objectContaining({ code })])
  expect(failed[0]!.message).toContain(text)
  expect(all.filter(({ type }) => type === 'child_delegated')).toHaveLength(agents - 1)
  // The agent that asked reads why, and every agent completes.
  expect(read.filter((messages) => messages.includes(code))).toHaveLength(1)
  for (const [, { machine }] of await world.states()) expect(machine.status).toBe('DONE')
  expect((await world.process.runtime.verify(ROOT)).problems).toEqual([])
})
