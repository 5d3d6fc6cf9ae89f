import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { below, type CausalEntry, causalHistoryOf } from '../../../domain/agent/rules/causal-history.ts'
import { compareHistories } from '../../../domain/agent/rules/compare-histories.ts'
import { compareRunHistories } from '../../../domain/agent/runtime/history/compare.ts'
import { atOnce } from '../../../domain/log/steps.ts'
import { call, calls, completes, USER } from '../../support/harness.ts'
import { law } from '../../support/laws.ts'
import { given } from '../../support/story.ts'
import type { Agents } from '../../support/tree/agents.ts'
import { type Plan, treeArbitrary, treeSpec } from '../../support/tree/plans.ts'
import { play, ROOT, schedules } from '../../support/tree/walk.ts'

/** The entries of a simulated tree. */
function historyIn(agents: Agents, id = ROOT): readonly CausalEntry[] {
  const { entries, children } = atOnce(causalHistoryOf(agents.of(id).events))
  return [
    ...entries,
    ...children.flatMap((child) => historyIn(agents, child.childId).map((entry) => below(child, entry))),
  ]
}

const compared = (a: Plan, b: Plan) =>
  atOnce(compareHistories(historyIn(play(a, treeSpec(), [])), historyIn(play(b, treeSpec(), []))))

const leaf: Plan = { rounds: [], ends: 'completes' }
const talks: Plan = { rounds: [], ends: 'talks' }
const of = (...children: Plan[]): Plan => ({ rounds: [{ children, looks: 1 }], ends: 'completes' })

describe('two runs are aligned by cause', () => {
  it('a run is the same as itself, whatever the order in which its agents worked and ended', async () => {
    await law(fc.tuple(treeArbitrary, schedules), 12, ([plan, schedule]) => {
      const [a, b] = [play(plan, treeSpec(), schedule), play(plan, treeSpec(), [])]
      const found = atOnce(compareHistories(historyIn(a), historyIn(b)))
      expect(found.first).toBeNull()
      expect(found.common).toBe(found.places.length)
      expect(found.places.length).toBeGreaterThan(3)
    })
  })

  it('takes a step for each event and each place, so that others are served between them', () => {
    const agents = play(of(leaf, talks), treeSpec(), [])
    const { events } = agents.of(ROOT)
    expect([...causalHistoryOf(events)].length).toBeGreaterThanOrEqual(events.length)
    const entries = historyIn(agents)
    expect([...compareHistories(entries, entries)].length).toBeGreaterThanOrEqual(entries.length)
  })

  it('names the first difference with the way to it, also deep in the tree', () => {
    const { first, common, places } = compared(of(leaf, of(leaf)), of(leaf, of(talks)))
    expect(first!.path).toEqual(['turn 1', 'call 1', 'agent', 'turn 1', 'call 0', 'agent', 'turn 1', 'answer'])
    expect(first).toMatchObject({ kind: 'answered', same: false })
    expect(common).toBe(places.findIndex(({ same }) => !same))
    expect(first!.a!.value).toMatchObject({ stopReason: 'tool_use' })
    expect(first!.b!.value).toMatchObject({ stopReason: 'end_turn' })
    // What follows from it stands after it: the child's end is its parent's result.
    const later = places.filter(({ same }) => !same).map(({ path }) => path.join(' / '))
    expect(later).toContain('turn 1 / call 1 / agent / turn 1 / call 0 / result')
  })

  it('a run that went further differs where the other one has nothing', () => {
    const longer: Plan = {
      rounds: [
        { children: [], looks: 1 },
        { children: [], looks: 2 },
      ],
      ends: 'completes',
    }
    const { first } = compared({ rounds: [{ children: [], looks: 1 }], ends: 'completes' }, longer)
    expect(first).toMatchObject({ path: ['turn 2', 'answer'], kind: 'answered' })
    expect(atOnce(compareHistories([], historyIn(play(leaf, treeSpec(), [])))).first).toMatchObject({
      a: null,
      path: ['start'],
    })
  })
})

it('a fork is the same as its source up to where it leaves it', async () => {
  const sets = calls(call('set_context', { key: 'a', value: 1 }))
  const run = await given({ says: [sets, completes(), completes('otherwise')] })
  await run.drive()
  const { runId } = await run.runtime.fork(run.runId, { turn: 1 }, {}, { by: USER })
  await run.runtime.drive(runId, { signal: new AbortController().signal })
  const { first, common } = await compareRunHistories(run.ports, run.runId, runId)
  expect(common).toBeGreaterThan(5)
  expect(first).toMatchObject({
    ...{ path: ['turn 2', 'answer'], kind: 'answered' },
    ...{ a: { agentId: run.runId }, b: { agentId: runId } },
  })
})
