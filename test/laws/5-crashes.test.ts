import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keyedCommand, keyOf } from '../../domain/log/ids.ts'
import { SAMPLED, sampleOf } from '../support/faults/seed.ts'
import { checkHistory } from '../support/invariants.ts'
import { law } from '../support/laws.ts'
import { type Plan, planArbitrary, TOOLS } from '../support/plans.ts'
import type { Fate } from '../support/process.ts'
import { World } from '../support/world.ts'

// Law 5: killed at any boundary and resumed, or overtaken by a second driver: no irreversible effect twice, no
// completion twice, nothing acknowledged lost.

const fates = (dies: fc.Arbitrary<boolean>) =>
  fc.uniqueArray(fc.record({ at: fc.integer({ min: 1, max: 60 }), dies }), {
    maxLength: 4,
    selector: (fate) => fate.at,
  })

async function hold(plan: Plan, given: readonly Fate[]): Promise<World> {
  const world = new World(plan, given)
  const end = await world.live()
  const events = await world.events()
  const state = checkHistory(events)
  expect(state.machine.status).toBe(end.end === 'done' ? 'DONE' : 'ERROR')
  for (const event of events) {
    if (event.type !== 'tool_call_start' || TOOLS[event.body.toolName as 'send'] !== 'irreversible') continue
    expect(world.effects.get(event.toolCallId!) ?? 0, `${event.toolCallId} happened`).toBeLessThanOrEqual(1)
  }
  for (const [key, kind] of world.acknowledged) {
    if (kind !== 'input' && kind !== 'start') continue
    const type = kind === 'input' ? 'user_input' : 'agent_started'
    const told = keyOf(keyedCommand(world.log.logId, key, kind))
    const recorded = events.filter((event) => keyOf(event.commandId) === told && event.type === type).length
    expect(recorded, `${kind} ${key}, which was acknowledged, is in the log once`).toBe(1)
  }
  expect((await world.process.runtime.verify(world.runId)).problems).toEqual([])
  return world
}

test('killed anywhere, any number of times', async () => {
  await law(fc.tuple(planArbitrary, fates(fc.constant(true))), 60, async ([plan, given]) => {
    await hold(plan, given)
  })
})

test('held anywhere, overtaken, and let go', async () => {
  await law(fc.tuple(planArbitrary, fates(fc.boolean())), 60, async ([plan, given]) => {
    await hold(plan, given)
  })
})

const RICH: Plan = {
  mode: 'batch',
  role: false,
  maxTurns: 8,
  graceTurns: 1,
  hardLimit: true,
  wallClockMs: null,
  tokens: null,
  maxRetries: 2,
  maxParallel: 3,
  requiresApproval: ['save'],
  deniedTools: [],
  answers: [
    { kind: 'calls', calls: [{ tool: 'send', key: 0 }] },
    {
      kind: 'calls',
      calls: [
        { tool: 'look', key: 0 },
        { tool: 'look', key: 1 },
        { tool: 'put', key: 2 },
        { tool: 'send', key: 1 },
      ],
    },
    { kind: 'network' },
    { kind: 'calls', calls: [{ tool: 'save', key: 0 }] },
    { kind: 'complete', summary: 'done' },
  ],
  ends: ['ok', 'early', 'ok', 'same', 'late', 'ok'],
  replies: [],
  requests: [{ at: 4, request: 'input', elsewhere: true }],
}

/** Of each kind of boundary the first, and as many more. */
const SOME = 8

test.each([true, false])(`at each boundary of one rich run (${SAMPLED}; it dies there: %s)`, async (dies) => {
  const whole = await hold(RICH, [])
  expect(new Set(whole.points)).toEqual(
    new Set([
      'before_append',
      'after_append',
      'before_claim',
      'after_claim',
      'before_model',
      'after_model',
      'before_tool',
      'after_tool',
    ]),
  )
  const boundaries = whole.points.map((point, n) => ({ at: n + 1, first: whole.points.indexOf(point) === n }))
  for (const { at } of sampleOf(boundaries, SOME, ({ first }) => first)) {
    const world = await hold(RICH, [{ at, dies }])
    expect(world.acknowledged.get('start')).toBe('start')
  }
})
