import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { reserve } from '../../domain/agent/rules/own-budget.ts'
import { type AgentState, activityOf } from '../../domain/agent/state/state.ts'
import { cost } from '../../domain/tree/money.ts'
import { casesOf } from '../support/cases.ts'
import { Decider } from '../support/decider.ts'
import { call, calls, completes, testModel } from '../support/harness.ts'
import { law } from '../support/laws.ts'
import { given, tool } from '../support/story.ts'

// 5.2, CONTRACTS 4: of every budget a place is kept for the warning turn.

/** Reading costs less than writing to the cache. */
const price = { asOf: '2026-01-18', input: 2e9, output: 10e9, cacheRead: 0.1e9, cacheWrite: 2.5e9 }

const share = fc.double({ min: 0, max: 1, noNaN: true })
const plan = fc.record({
  tokens: fc.option(fc.integer({ min: 300, max: 60_000 })),
  microDollars: fc.option(fc.integer({ min: 1_000, max: 400_000 })),
  /** Turn by turn: the share of its reservation that a call takes, and the bytes of the tool's result. */
  turns: fc.array(fc.record({ input: share, output: share, says: fc.integer({ min: 0, max: 3_000 }) }), {
    minLength: 1,
    maxLength: 8,
  }),
  cached: fc.boolean(),
})
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never

/** A run whose model goes on until nothing but the completion is offered. */
async function run({ tokens, microDollars, turns, cached }: Plan) {
  const at = (nth: number) => turns[nth % turns.length]!
  let looked = 0
  const asked: string[] = []
  const look = tool('look', {}, () => 'x'.repeat(at(looked++).says))
  const one = await given({
    says: [
      async ({ tools, maxOutputTokens }, nth) => {
        const activity = activityOf((await one.state()).machine)
        if (activity?.status !== 'THINKING' || activity.model.at !== 'calling') throw new Error('no call is open')
        const final = tools.length === 1
        asked.push(final ? 'warned' : 'asked')
        const input = Math.floor(activity.model.estimate.input * (1 - at(nth).input / 2))
        const output = Math.floor(maxOutputTokens * at(nth).output)
        const usage = { input: cached ? 0 : input, cacheWrite: cached ? input : 0, cacheRead: 0, output }
        return { ...(final ? completes() : calls(call('look', { nth }, `c${nth}`))), usage }
      },
    ],
    tools: [look],
    spec: {
      budget: { tokens, nanoDollars: microDollars && microDollars * 1_000 },
      models: { requested: 'test-model', safeDefault: 'test-model', known: [{ ...testModel, price }] },
      limits: { maxTurns: 12, wallClockMs: null },
    },
  })
  const end = await one.drive()
  const { spent } = await one.state()
  return { asked, end, spent }
}

test('whenever work was begun the warning turn is asked for, and no budget is overspent', async () => {
  const seen = { begun: 0, refused: 0 }
  await law(plan, 100, async (budgets) => {
    const { asked, end, spent } = await run(budgets)
    if (asked[0] !== 'asked') {
      expect(asked).toEqual(asked.length === 0 ? [] : ['warned'])
      seen.refused++
      return
    }
    seen.begun++
    expect(end).toEqual({ end: 'done' })
    expect(asked.at(-1)).toBe('warned')
    if (budgets.tokens !== null)
      expect(spent.input + spent.output + spent.cacheRead + spent.cacheWrite).toBeLessThanOrEqual(budgets.tokens)
    if (budgets.microDollars !== null) expect(spent.nanoDollars).toBeLessThanOrEqual(budgets.microDollars * 1_000)
  })
  expect(seen.begun).toBeGreaterThan(casesOf(100) / 12)
  expect(seen.refused).toBeGreaterThan(casesOf(100) / 30)
})

test.each([7_000, 8_000, 9_000])(
  'an answer of all that was granted of %i tokens leaves room for the warning',
  async (tokens) => {
    const turns = [{ input: 0, output: 1, says: 500 }]
    const { asked, end } = await run({ tokens, microDollars: null, turns, cached: false })
    expect([asked, end]).toEqual([['asked', 'warned'], { end: 'done' }])
  },
)

test.each([
  [100_000, 30_000],
  [24_000, 9_000],
])('of %i tokens the place of results of %i bytes is kept, turn by turn', async (tokens, says) => {
  const turns = [{ input: 0, output: 0.1, says }]
  const { asked, end } = await run({ tokens, microDollars: null, turns, cached: false })
  expect([asked.at(-1), end]).toEqual(['warned', { end: 'done' }])
})

describe('of a long conversation', () => {
  const model = { ...testModel, price, maxOutputTokens: 32_000 }
  const read = 100_000
  const [agent, warned] = [
    new Decider({}),
    { reason: 'budget', warningTurn: 2, deadlineAt: 0, pendingWarning: null } as const,
  ]

  /** Is there a warning turn after a call that took all it was granted? Null: it was granted nothing. */
  function warningAfter(budget: AgentState['spec']['budget'], resultBytes: number): boolean | null {
    const before = { ...agent.state, spec: { ...agent.state.spec, budget }, context: { tokens: read, bytes: 0 } }
    const granted = reserve(before, model, 0)
    if (granted === null) return null
    const usage = { input: 0, cacheRead: 0, cacheWrite: read, output: granted.maxOutput }
    expect(granted.nanoDollars).toBe(cost(usage, price))
    const after: AgentState = {
      ...before,
      spent: { ...usage, nanoDollars: cost(usage, price) },
      context: { tokens: read + granted.maxOutput, bytes: resultBytes },
      machine: { status: 'RECOVERY', recovery: warned, activity: null },
    }
    return reserve(after, model, 0) !== null
  }

  test.each([
    [
      'tokens, and one long result',
      30_720,
      (share: number) => ({ tokens: 200_000 + share * 90_000, nanoDollars: null }),
    ],
    ['money, all of it written to the cache', 0, (share: number) => ({ tokens: null, nanoDollars: 4e8 + share * 8e8 })],
  ])('the place is kept: %s', async (_, resultBytes, budget) => {
    const seen = new Set<boolean | null>()
    await law(fc.integer({ min: 0, max: 1_000 }), 200, (share) => {
      const there = warningAfter(budget(share / 1_000), resultBytes)
      seen.add(there)
      expect(there).not.toBe(false)
    })
    expect([...seen].sort()).toEqual([null, true])
  })
})
