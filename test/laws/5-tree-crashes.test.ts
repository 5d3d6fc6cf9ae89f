import fc from 'fast-check'
import { expect, test } from 'vitest'
import { budgetOf, committed, ownSpent } from '../../domain/agent/state/budget-account.ts'
import { fold } from '../../domain/agent/state/evolve.ts'
import type { AgentState } from '../../domain/agent/state/state.ts'
import { law } from '../support/laws.ts'
import type { Boundary } from '../support/tree/dying-log.ts'
import { holds } from '../support/tree/holds.ts'
import { type Plan, treeArbitrary, worldSpec } from '../support/tree/plans.ts'
import { type Dies, ROOT, TreeWorld } from '../support/tree/world.ts'

// Law 5 of trees: killed at any boundary and driven again, the tree ends as one that was not; each child is born once, no
// irreversible effect happens twice, and the books of every agent agree with its subtree.

async function live(plan: Plan, dies?: Dies): Promise<TreeWorld> {
  const world = new TreeWorld(plan, dies)
  expect(['done', 'error']).toContain((await world.live()).end)
  return world
}

const leaf: Plan = { rounds: [{ children: [], looks: 2 }], ends: 'completes' }
const SMALL: Plan = {
  rounds: [
    {
      children: [
        { rounds: [{ children: [leaf], looks: 0 }], ends: 'completes' },
        { ...leaf, ends: 'talks' },
      ],
      looks: 1,
    },
  ],
  ends: 'completes',
}

const about = (name: Boundary['name'], type: string, below: boolean) => (boundary: Boundary) =>
  boundary.name === name && boundary.types.includes(type) && below === (boundary.stream !== `agent-${ROOT}`)

/** The boundaries that each take another way through the courier. */
const NAMED: readonly (readonly [string, (boundary: Boundary) => boolean])[] = [
  ['birth recorded, not delivered', about('after_append', 'child_delegated', false)],
  ['birth delivered, not acknowledged', about('after_append', 'agent_started', true)],
  ['birth acknowledged', about('after_append', 'delivered', false)],
  ['child about to end', about('before_append', 'end_reported', true)],
  ['child ended, parent not informed', about('after_append', 'end_reported', true)],
  ['parent informed, settlement half done', about('after_append', 'child_ended', false)],
  ['settled', about('after_append', 'delivered', true)],
]

test.each(NAMED)('killed once and again at "%s" the tree ends as it does without', async (_, at) => {
  const whole = await (await live(SMALL)).told()
  const met = new Map<string, number>()
  const world = await live(SMALL, (boundary) => {
    const key = `${boundary.stream} ${boundary.types.join(' ')}`
    if (!at(boundary)) return false
    met.set(key, (met.get(key) ?? 0) + 1)
    return met.get(key)! <= 2
  })
  expect(world.deaths).toBeGreaterThan(0)
  await holds(world, whole)
})

test('killed at every single boundary of a tree', async () => {
  const first = await live(SMALL)
  const whole = await first.told()
  for (let at = 1; at <= first.boundaries.length; at += STEP) {
    const world = await live(SMALL, (_, nth) => nth === at)
    expect(world.deaths, `at ${at}`).toBe(1)
    await holds(world, whole)
  }
})

/** `npm run test:laws` kills at each. */
const STEP = process.env.FAULT_ALL === undefined ? 5 : 1

test('killed anywhere, any number of times', async () => {
  const deaths = fc.uniqueArray(fc.integer({ min: 1, max: 120 }), { maxLength: 6 })
  await law(fc.tuple(treeArbitrary, deaths), 8, async ([plan, at]) => {
    const whole = await (await live(plan)).told()
    await holds(await live(plan, (_, nth) => at.includes(nth)), whole)
  })
})

test('driven by three processes that are killed, or lose all leases, anywhere and any number of times', async () => {
  const faults = fc.uniqueArray(fc.record({ at: fc.integer({ min: 1, max: 200 }), dies: fc.boolean() }), {
    maxLength: 6,
    selector: ({ at }) => at,
  })
  await law(fc.tuple(treeArbitrary, faults), 6, async ([plan, all]) => {
    const whole = await (await live(plan)).told()
    const world = new TreeWorld(plan, (_, nth, process) => {
      const fault = all.find(({ at }) => at === nth)
      if (fault?.dies === false) world.leases.suspend(process)
      return fault?.dies === true
    })
    world.workers = 3
    world.modelMs = 1_000
    world.boot()
    expect(['done', 'error']).toContain((await world.live()).end)
    await holds(world, whole)
  })
})

test('a tree whose processes die never spends more than its root was given, and no agent gives more than it has', async () => {
  const budgets = fc.record({
    tokens: fc.integer({ min: 15_000, max: 300_000 }),
    agents: fc.integer({ min: 1, max: 7 }),
  })
  const deaths = fc.uniqueArray(fc.integer({ min: 1, max: 120 }), { maxLength: 5 })
  await law(fc.tuple(treeArbitrary, deaths, budgets), 6, async ([plan, at, { tokens, agents }]) => {
    const spec = worldSpec({ budget: { tokens, nanoDollars: null } }, { agents })
    const world = new TreeWorld(plan, (_, nth) => at.includes(nth), spec)
    await world.live()
    const states = await world.states()
    for (const [id] of states) {
      let state: AgentState | null = null
      for (const event of await world.events(id)) {
        state = fold(state, [event])
        const [budget, own, others] = [budgetOf(state!), ownSpent(state!), committed(state!)]
        for (const kind of ['tokens', 'agents'] as const)
          expect(own[kind] + others[kind], `${kind} of ${id}`).toBeLessThanOrEqual(budget[kind] ?? 0)
      }
    }
    expect(states.reduce((all, [, one]) => all + ownSpent(one).tokens, 0)).toBeLessThanOrEqual(tokens)
    expect(states.length).toBeLessThanOrEqual(agents)
    for (const { totals, sums } of await world.books()) expect(totals).toEqual(sums)
  })
})
