import { expect, test } from 'vitest'
import type { AgentEvent } from '../../../domain/agent/events/events.ts'
import { budgetOf, totals } from '../../../domain/agent/state/budget-account.ts'
import { agentStream, childAgentId } from '../../../domain/log/ids.ts'
import { says, use } from '../../support/tree/planned-model.ts'
import { type Plan, worldSpec } from '../../support/tree/plans.ts'
import { type Dies, ROOT, TreeWorld } from '../../support/tree/world.ts'

// The books of a tree through the real courier: what the laws say of simulated streams, seen in processes over one log.

const leaf: Plan = { rounds: [{ children: [], looks: 1 }], ends: 'completes' }
const ONE: Plan = { rounds: [{ children: [leaf], looks: 0 }], ends: 'completes' }
const CHILD = childAgentId(`${ROOT}.t1.c0`)

const bodiesOf = async <T extends AgentEvent['type']>(world: TreeWorld, agentId: string, type: T) =>
  (await world.events(agentId)).flatMap((event) =>
    event.type === type ? [event.body as Extract<AgentEvent, { type: T }>['body']] : [],
  )

const stateOf = async (world: TreeWorld, agentId: string) => new Map(await world.states()).get(agentId)!

async function expectBalanced(world: TreeWorld): Promise<void> {
  for (const { totals: said, sums } of await world.books()) expect(said).toEqual(sums)
}

/** The child reads until its own part of the budget is used up. */
function hungry(dies?: Dies): TreeWorld {
  const world = new TreeWorld(ONE, dies, worldSpec({ budget: { tokens: 60_000, nanoDollars: null } }))
  const planned = world.answer
  world.answer = (request) => {
    const turn = request.messages.filter(({ role }) => role === 'assistant').length
    if (request.messages[0]?.content === 'do it' || request.tools.length === 1) return planned(request)
    if (turn >= 3) return says([use('complete_task', { summary: 'read it' }, 'c')], 'tool_use')
    return { ...says([use('look', { turn }, 'l')], 'tool_use'), usage: { ...USAGE, input: 9_000 } }
  }
  return world
}
const USAGE = { input: 300, output: 40, cacheRead: 0, cacheWrite: 0 }

test('a child whose tokens run out is given more by its parent, through the courier, and both books agree', async () => {
  const world = hungry()
  expect(await world.live()).toEqual({ end: 'done' })
  const [wanted] = await bodiesOf(world, ROOT, 'child_requested_budget')
  const [granted] = await bodiesOf(world, ROOT, 'budget_granted')
  const [received] = await bodiesOf(world, CHILD, 'budget_received')
  expect(wanted?.origin.stream).toBe(agentStream(CHILD))
  expect(granted!.grant.tokens).toBeGreaterThan(0)
  expect(received?.grant).toEqual(granted?.grant)
  const child = await stateOf(world, CHILD)
  const [birth] = await bodiesOf(world, ROOT, 'child_delegated')
  expect(budgetOf(child).tokens).toBe(birth!.grant.tokens! + received!.grant.tokens)
  expect(child.machine.status).toBe('DONE')
  const { spent } = totals(await stateOf(world, ROOT))
  expect(spent.input + spent.output).toBeLessThanOrEqual(60_000)
  await expectBalanced(world)
})

test.each([
  ['the request is recorded', 'budget_requested'],
  ['the parent has decided', 'budget_granted'],
  ['the child has received it', 'budget_received'],
])('a process that dies when %s gives the child no more and no less', async (_, type) => {
  const whole = hungry()
  await whole.live()
  let deaths = 0
  const world = hungry(({ name, types }) => name === 'after_append' && types.includes(type) && deaths++ === 0)
  expect(await world.live()).toEqual({ end: 'done' })
  expect(world.deaths).toBe(1)
  const given = async (one: TreeWorld) => (await bodiesOf(one, CHILD, 'budget_received')).map(({ grant }) => grant)
  expect(await given(world)).toEqual(await given(whole))
  await expectBalanced(world)
})

test('a settlement that a crash cuts in half is settled once by the next process', async () => {
  const cut = new Set<string>()
  const world = new TreeWorld(ONE, ({ name, stream, types }) => {
    // The parent has the end; the child does not know that it was delivered.
    const half = name === 'before_append' && stream === agentStream(CHILD) && types.includes('delivered')
    if (!half || cut.size > 0) return false
    cut.add(stream)
    return true
  })
  expect(await world.live()).toEqual({ end: 'done' })
  expect(world.deaths).toBe(1)
  const root = await stateOf(world, ROOT)
  expect(await bodiesOf(world, ROOT, 'child_ended')).toHaveLength(1)
  expect(root.family.children).toEqual({})
  expect(totals(root).uncertain).toEqual({ tokens: 0, nanoDollars: 0, agents: 0 })
  expect((await bodiesOf(world, CHILD, 'delivered')).map(({ target }) => target)).toContain(agentStream(ROOT))
  await expectBalanced(world)
})
