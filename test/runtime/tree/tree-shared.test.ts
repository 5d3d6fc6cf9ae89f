import { expect, test } from 'vitest'
import type { Plan } from '../../support/tree/plans.ts'
import { ROOT, TreeWorld } from '../../support/tree/world.ts'

// Several processes over one log drive the agents of one run, each the ones that it has a lease of.

const leaf: Plan = { rounds: [{ children: [], looks: 2 }], ends: 'completes' }
const middle: Plan = { rounds: [{ children: [leaf, leaf], looks: 0 }], ends: 'completes' }
const WIDE: Plan = { rounds: [{ children: [middle, middle, leaf, leaf], looks: 1 }], ends: 'completes' }

function shared(plan: Plan, ...more: ConstructorParameters<typeof TreeWorld> extends [Plan, ...infer R] ? R : never) {
  const world = new TreeWorld(plan, ...more)
  world.workers = 3
  world.modelMs = 2_000
  world.boot()
  return world
}

test('the agents of a run are driven by several processes, each by one at a time, and no more at once than it allows', async () => {
  const alone = new TreeWorld(WIDE)
  await alone.live()
  const world = shared(WIDE)
  world.agentsAtOnce = 3
  world.boot()
  expect(await world.live()).toEqual({ end: 'done' })
  expect(await world.told()).toEqual(await alone.told())
  expect(world.most).toBe(3)
  const all = new Set([...world.drivers.values()].flatMap((drivers) => [...drivers]))
  expect(all.size).toBeGreaterThan(1)
  expect(world.drivers.get(ROOT)?.size).toBe(1)
})
