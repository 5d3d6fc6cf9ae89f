import fc from 'fast-check'
import { expect, test } from 'vitest'
import { owed } from '../../domain/agent/decide/owed.ts'
import { wakeAt } from '../../domain/agent/decide/wake-at.ts'
import { agentBodies } from '../../domain/agent/events/events.ts'
import { budgetOf, committed, ownSpent, totals } from '../../domain/agent/state/budget-account.ts'
import { fold } from '../../domain/agent/state/evolve.ts'
import { type AgentState, isFinished } from '../../domain/agent/state/state.ts'
import { undelivered } from '../../domain/courier/ledger.ts'
import { testModel } from '../support/harness.ts'
import { law } from '../support/laws.ts'
import type { Agents } from '../support/tree/agents.ts'
import { treeArbitrary, treeSpec } from '../support/tree/plans.ts'
import { play, ROOT, roughSchedules, schedules } from '../support/tree/walk.ts'

// Laws of trees of agents: any order, repetition and loss of deliveries gives one tree; its books agree.

/** The facts that must not depend on the schedule: each agent's end, the input of its model, and the use of it and its children. */
const told = (agents: Agents) =>
  Object.fromEntries(
    [...agents.streams].sort().map(([id, { state, transcript }]) => {
      const { code } = state.machine as { code?: string }
      return [id, { status: state.machine.status, code, messages: transcript.messages, totals: totals(state) }]
    }),
  )

test('any order and repetition of deliveries gives one tree, and the order in which children end changes nothing', async () => {
  await law(fc.tuple(treeArbitrary, schedules), 150, ([plan, schedule]) => {
    expect(told(play(plan, treeSpec(), schedule))).toEqual(told(play(plan, treeSpec(), [])))
  })
})

test('a tree whose drivers and couriers die ends as one whose do not, and bears each child once', async () => {
  await law(fc.tuple(treeArbitrary, roughSchedules), 150, ([plan, schedule]) => {
    const rough = play(plan, treeSpec(), schedule)
    const ends = (agents: Agents) =>
      Object.fromEntries(Object.entries(told(agents)).map(([id, { totals: _, ...rest }]) => [id, rest]))
    expect(ends(rough)).toEqual(ends(play(plan, treeSpec(), [])))
    const all = [...rough.streams.values()].flatMap(({ events }) => events)
    const births = all.flatMap((event) => (event.type === 'child_delegated' ? [event.body.childId] : []))
    const born = [...rough.streams.keys()].filter((id) => id !== ROOT)
    expect([...births].sort()).toEqual([...born].sort())
    const ended = all.flatMap((event) => (event.type === 'child_ended' ? [event.body.childId] : []))
    expect([...ended].sort()).toEqual([...born].sort())
  })
})

const sum = (agents: Agents, of: (state: AgentState) => number) =>
  [...agents.streams.values()].reduce((all, { state }) => all + of(state), 0)

const below = (agents: Agents, id: string): string[] => [
  id,
  ...[...agents.streams]
    .filter(([, { state }]) => state.parent?.agentId === id)
    .flatMap(([child]) => below(agents, child)),
]

test('when all is delivered, the totals of every agent are the sum over its subtree, late answers included', async () => {
  await law(fc.tuple(treeArbitrary, roughSchedules), 150, ([plan, schedule]) => {
    const agents = play(plan, treeSpec(), schedule)
    for (const [id, { state }] of agents.streams) {
      const subtree = below(agents, id).map((one) => agents.of(one).state)
      const { spent } = totals(state)
      expect(spent.input).toBe(subtree.reduce((all, one) => all + one.spent.input, 0))
      expect(spent.output).toBe(subtree.reduce((all, one) => all + one.spent.output, 0))
      expect(spent.agents).toBe(subtree.length)
      expect(undelivered(state)).toEqual([])
    }
  })
})

const price = { asOf: '2026-01-01', input: 3_000_000_000, output: 15_000_000_000, cacheRead: 0, cacheWrite: 0 }
const priced = { requested: 'test-model', safeDefault: 'test-model', known: [{ ...testModel, price }] }

test('no agent gives or spends more than it has, and a tree never more than its root was given', async () => {
  const budgets = fc.record({
    tokens: fc.integer({ min: 15_000, max: 400_000 }),
    dollars: fc.constantFrom(null, 1, 3),
    agents: fc.integer({ min: 1, max: 9 }),
  })
  await law(
    fc.tuple(treeArbitrary, roughSchedules, budgets),
    200,
    ([plan, schedule, { tokens, dollars, agents: most }]) => {
      const nanoDollars = dollars === null ? null : dollars * 1_000_000_000
      const spec = treeSpec({ budget: { tokens, nanoDollars }, models: priced }, { agents: most })
      play(plan, spec, schedule, (agents, _, state) => {
        const [budget, own, others] = [budgetOf(state), ownSpent(state), committed(state)]
        for (const kind of ['tokens', 'nanoDollars', 'agents'] as const)
          expect(own[kind] + others[kind], kind).toBeLessThanOrEqual(budget[kind] ?? Number.POSITIVE_INFINITY)
        expect(sum(agents, (one) => ownSpent(one).tokens)).toBeLessThanOrEqual(tokens)
        expect(sum(agents, (one) => one.spent.nanoDollars)).toBeLessThanOrEqual(nanoDollars ?? Number.POSITIVE_INFINITY)
        expect(agents.streams.size).toBeLessThanOrEqual(most)
      })
    },
  )
})

test('people may cancel, pause and resume at any time: every agent ends, and owes no effect', async () => {
  const requests = fc.dictionary(
    fc.integer({ min: 0, max: 60 }).map(String),
    fc.constantFrom('cancel', 'pause', 'resume'),
    {
      maxKeys: 4,
    },
  )
  await law(fc.tuple(treeArbitrary, roughSchedules, requests), 150, ([plan, schedule, asked]) => {
    const at = Object.fromEntries(
      Object.entries(asked).map(([n, kind]) => [
        n,
        (agents: Agents) => {
          if (isFinished(agents.of(ROOT).state)) return
          agents.submit(ROOT, kind === 'cancel' ? { kind, deadlineMs: 1_000 } : ({ kind } as { kind: 'pause' }))
        },
      ]),
    )
    const agents = play(
      plan,
      treeSpec(),
      schedule,
      (_, __, state) => {
        if (isFinished(state)) expect(owed(state)).toEqual([])
      },
      at,
    )
    if (!isFinished(agents.of(ROOT).state)) agents.submit(ROOT, { kind: 'resume' })
    agents.settle()
    for (const { state } of agents.streams.values()) {
      expect(isFinished(state), state.machine.status).toBe(true)
      expect(wakeAt(state)).toBeNull()
    }
  })
})

test('every stream folds again to its state, also from a prefix, and every body has its shape', async () => {
  await law(fc.tuple(treeArbitrary, roughSchedules, fc.nat()), 60, ([plan, schedule, split]) => {
    for (const { events, state } of play(plan, treeSpec(), schedule).streams.values()) {
      const cut = split % events.length
      const prefix = fold(null, events.slice(0, cut))
      expect(fold(prefix === null ? null : JSON.parse(JSON.stringify(prefix)), events.slice(cut))).toEqual(state)
      for (const { type, body } of events) expect(agentBodies[type].safeParse(body).error).toBeUndefined()
    }
  })
})

test('the state of an agent is no larger for children that have ended, but for one number each', () => {
  const leaf = { rounds: [], ends: 'completes' } as const
  const many = {
    rounds: [
      { children: [leaf, leaf, leaf, leaf], looks: 0 },
      { children: [leaf, leaf, leaf, leaf], looks: 0 },
    ],
    ends: 'completes',
  } as const
  const { state } = play(many, treeSpec(), []).of(ROOT)
  expect(state.family.children).toEqual({})
  expect(Object.keys(state.courier.accepted)).toHaveLength(8)
  expect(state.family.settled.spent.agents).toBe(8)
})
