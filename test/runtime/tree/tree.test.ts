import { expect, test } from 'vitest'
import type { Plan } from '../../support/tree/plans.ts'
import { ROOT, TreeWorld } from '../../support/tree/world.ts'

const leaf: Plan = { rounds: [{ children: [], looks: 2 }], ends: 'completes' }
const round = (children: readonly Plan[], looks = 0) => ({ children, looks })
const THREE: Plan = { rounds: [round([leaf, { ...leaf, ends: 'talks' }, leaf], 1), round([leaf])], ends: 'completes' }

test('a parent delegates, waits for its children side by side, and completes with their results', async () => {
  const world = new TreeWorld(THREE)
  expect(await world.live()).toEqual({ end: 'done' })
  const told = await world.told()
  expect(Object.values(told).map(({ status, code }) => code ?? status)).toEqual(
    expect.arrayContaining(['DONE', 'DONE', 'DONE', 'NO_COMPLETION', 'DONE']),
  )
  expect(Object.values(told).every(({ owes, open }) => owes === 0 && open.length === 0)).toBe(true)
  for (const { totals, sums } of await world.books()) expect(totals).toEqual(sums)
  expect(world.most).toBeGreaterThan(1)
  expect([...world.effects.values()]).toEqual([1, 1, 1, 1])
})

test('no more agents are at work at once than the run allows, and a parent that waits is not at work', async () => {
  const many: Plan = {
    rounds: [round([{ rounds: [round([leaf, leaf, leaf])], ends: 'completes' }, leaf, leaf])],
    ends: 'completes',
  }
  const world = new TreeWorld(many)
  world.agentsAtOnce = 2
  world.boot()
  expect(await world.live()).toEqual({ end: 'done' })
  expect(world.most).toBe(2)
})

test('the parent has the revision and the hash of the end of its child', async () => {
  const world = new TreeWorld(THREE)
  await world.live()
  const ends = (await world.events(ROOT)).flatMap((event) => (event.type === 'child_ended' ? [event.body] : []))
  expect(ends).toHaveLength(4)
  for (const { childId, head } of ends) {
    const [event] = (
      await Array.fromAsync(world.log.read(`agent-${childId}`, { from: head.revision, limit: 1 }))
    ).flat()
    expect(event?.hash).toBe(head.hash)
    expect(event?.header.type).toBe('end_reported')
  }
})
