import fc from 'fast-check'
import { expect, test } from 'vitest'
import { budgetOf, committed, ownSpent, totals } from '../../domain/agent/state/budget-account.ts'
import { isFinished } from '../../domain/agent/state/state.ts'
import { external } from '../../domain/external/aggregate.ts'
import type { ExternalState } from '../../domain/external/state.ts'
import { NO_RIGHTS } from '../../domain/tree/rights.ts'
import { law } from '../support/laws.ts'
import { Mixed, USED } from '../support/tree/mixed.ts'
import { HAND, modelOf, type Plan, treeSpec } from '../support/tree/plans.ts'
import { ROOT } from '../support/tree/walk.ts'

// Laws of trees in which children are other agents: whatever is delivered in whatever order, and whichever process dies, each is
// started at most once, its end is known once, and what it has used is on the bill of its parent once.

const leaf: Plan = { rounds: [], ends: 'completes' }
const plans = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 2 }).map(
  (rounds): Plan => ({
    rounds: rounds.map((n) => ({ children: Array.from({ length: n }, () => leaf), looks: 0 })),
    ends: 'completes',
  }),
)
const HOW = ['next', 'next', 'again', 'skips', 'forgets'] as const
const OTHER = ['starts', 'starts', 'uses', 'ends', 'dies', 'tells', 'tells again', 'forgets'] as const
const move = fc.oneof(
  fc.record({ does: fc.constant('drive' as const), pick: fc.nat(9), how: fc.nat(9) }),
  fc.record({ does: fc.constant('deliver' as const), pick: fc.nat(99), how: fc.constantFrom(...HOW) }),
  fc.record({ does: fc.constant('other' as const), pick: fc.nat(9), how: fc.constantFrom(...OTHER) }),
)
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never
const schedules = fc.array(move, { minLength: 5, maxLength: 90, size: 'max' })

const given = { kind: 'other', capabilities: [], levels: [{ grants: { ...NO_RIGHTS, outside: true }, extensions: {} }] }
const spec = (tokens: number | null) =>
  treeSpec({
    policy: { mode: 'batch', sandboxed: false, backends: ['other'] },
    budget: { tokens, nanoDollars: null },
    delegation: { maxDepth: 3, agents: 20, roles: { coder: FREE }, backends: { coder: given } },
  })
const FREE = { ...HAND, phases: [{ name: 'work', allowedTools: ['*'] }] }

function play(plan: Plan, schedule: readonly Move[], tokens: number | null, cancelAt: number | null) {
  const agents = new Mixed(modelOf(plan))
  agents.submit(ROOT, { kind: 'start', spec: spec(tokens), task: 'do it' })
  schedule.forEach(({ does, pick, how }, n) => {
    if (n === cancelAt && !isFinished(agents.of(ROOT).state))
      agents.submit(ROOT, { kind: 'cancel', deadlineMs: 1_000_000 })
    if (does === 'drive') agents.drive(ROOT, how as number)
    else if (does === 'deliver') {
      const pairs = how === 'again' ? agents.everOwed() : agents.pairs()
      const pair = pairs[pick % Math.max(1, pairs.length)]
      if (pair !== undefined) agents.deliver(pair.source, pair.target, how as (typeof HOW)[number])
    } else {
      const ids = [...agents.others.keys()]
      if (ids.length > 0) agents.other(ids[pick % ids.length]!, how as (typeof OTHER)[number])
    }
  })
  agents.settle()
  return agents
}

test('each other agent is started at most once, its end is known once, and what it has used is counted once', async () => {
  const cases = fc.tuple(plans, schedules, fc.option(fc.integer({ min: 60_000, max: 300_000 })), fc.option(fc.nat(60)))
  await law(cases, 200, ([plan, schedule, tokens, cancelAt]) => {
    const agents = play(plan, schedule, tokens, cancelAt)
    const { state, events } = agents.of(ROOT)
    expect(isFinished(state)).toBe(true)
    expect(agents.allDelivered).toBe(true)
    const count = (childId: string, type: string) =>
      agents.others.get(childId)!.events.filter((event) => event.type === type).length
    let [output, cached] = [state.spent.output, state.spent.cacheRead]
    for (const [childId, run] of agents.others) {
      expect([count(childId, 'external_started'), count(childId, 'external_ended')]).toEqual([1, 1])
      expect(count(childId, 'process_start')).toBeLessThanOrEqual(1)
      expect(
        events.filter(({ type, body }) => type === 'child_ended' && 'childId' in body && body.childId === childId),
      ).toHaveLength(1)
      output += run.state!.usage === null ? 0 : USED.outputTokens!
      cached += run.state!.usage === null ? 0 : USED.cachedInputTokens!
    }
    expect(totals(state).spent).toMatchObject({ output, cacheRead: cached, agents: agents.others.size + 1 })
    const [budget, own, others] = [budgetOf(state), ownSpent(state), committed(state)]
    expect(own.tokens + others.tokens).toBeLessThanOrEqual(budget.tokens ?? Number.POSITIVE_INFINITY)
  })
})

test('a process that dies with another agent at work leaves an unknown outcome in its call, and starts nothing again', () => {
  const plan: Plan = { rounds: [{ children: [leaf], looks: 0 }], ends: 'completes' }
  const agents = new Mixed(modelOf(plan))
  agents.submit(ROOT, { kind: 'start', spec: spec(100_000), task: 'do it' })
  for (let n = 0; n < 50 && agents.others.size === 0; n++) {
    for (const { source, target } of agents.pairs()) agents.deliver(source, target, 'next')
    agents.drive(ROOT)
  }
  const [childId] = agents.others.keys()
  agents.other(childId!, 'starts')
  agents.other(childId!, 'dies')
  agents.settle()
  const { events, state } = agents.of(ROOT)
  const end = events.find(
    ({ type, body }) => type === 'tool_call_end' && 'toolName' in body && body.toolName === 'delegate_to_agent',
  )
  expect(end?.body).toMatchObject({ success: false, error: { code: 'UNKNOWN_OUTCOME' } })
  expect(agents.others.get(childId!)!.events.filter(({ type }) => type === 'process_start')).toHaveLength(1)
  // All that it was granted may have been used.
  const ended = events.find(({ type }) => type === 'child_ended')
  expect(ended?.body).toMatchObject({ report: { spent: { agents: 1 }, uncertain: { tokens: expect.any(Number) } } })
  expect(totals(state).uncertain.tokens).toBeGreaterThan(0)
})

test('a delegated run folds again from any prefix, with the same digest', async () => {
  await law(fc.tuple(plans, schedules, fc.nat()), 60, ([plan, schedule, split]) => {
    for (const { events, state } of play(plan, schedule, null, null).others.values()) {
      const cut = split % events.length
      const fold = (from: ExternalState | null, some: typeof events) =>
        some.reduce<ExternalState | null>((at, event) => external.evolve(at, event), from)
      const prefix = fold(null, events.slice(0, cut))
      const whole = fold(JSON.parse(JSON.stringify(prefix)), events.slice(cut))!
      expect(whole).toEqual(state)
      expect(external.digest(whole)).toBe(external.digest(state!))
    }
  })
})
