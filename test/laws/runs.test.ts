import { expect, test } from 'vitest'
import { checkHistory } from '../support/invariants.ts'
import { law } from '../support/laws.ts'
import { planArbitrary } from '../support/plans.ts'
import { World } from '../support/world.ts'

test('every run ends, along the table of the state machine, with each turn and each call closed, and is proved', async () => {
  await law(planArbitrary, 80, async (plan) => {
    const world = new World(plan)
    const end = await world.live()
    const state = checkHistory(await world.events())
    expect(state.machine.status).toBe(end.end === 'done' ? 'DONE' : 'ERROR')
    expect((await world.process.runtime.verify(world.runId)).problems).toEqual([])
  })
})
