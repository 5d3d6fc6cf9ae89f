import { expect, test } from 'vitest'
import { checkHistory } from '../support/invariants.ts'
import { law } from '../support/laws.ts'
import { planArbitrary } from '../support/plans.ts'
import { World } from '../support/world.ts'

test('a step asked for while the one before it ends is taken up by the driver that is at work', async () => {
  // Found by the law below, whose driver slept on.
  const world = new World({
    ...{
      mode: 'interactive',
      role: true,
      maxTurns: 7,
      graceTurns: 2,
      hardLimit: true,
      wallClockMs: null,
      tokens: null,
    },
    ...{ maxRetries: 0, maxParallel: 1, requiresApproval: ['save', 'send'], deniedTools: [], replies: ['happened'] },
    answers: [
      { kind: 'ask' },
      { kind: 'calls', calls: [{ tool: 'put', key: 1 }] },
      { kind: 'complete', summary: 'done' },
      { kind: 'advance', to: 'nowhere', diagram: false },
    ],
    ends: ['slow', 'same', 'other'],
    requests: [
      { at: 6, request: 'input', elsewhere: false },
      { at: 17, request: 'resume', elsewhere: true },
      { at: 9, request: 'step', elsewhere: true },
      { at: 11, request: 'step', elsewhere: false },
    ],
  })
  await world.live()
  expect(['DONE', 'ERROR']).toContain(checkHistory(await world.events()).machine.status)
})

test('every run ends, along the table of the state machine, with each turn and each call closed, and is proved', async () => {
  await law(planArbitrary, 80, async (plan) => {
    const world = new World(plan)
    const end = await world.live()
    const state = checkHistory(await world.events())
    expect(state.machine.status).toBe(end.end === 'done' ? 'DONE' : 'ERROR')
    expect((await world.process.runtime.verify(world.runId)).problems).toEqual([])
  })
})
