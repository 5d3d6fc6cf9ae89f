import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunTree } from '../../../api/operations/runs/schemas.ts'
import {
  type Bar,
  barsOf,
  drawnBars,
  drawnLinks,
  linksByLane,
  linksOf,
  partOn,
} from '../../../api/web/run/family/lanes.ts'
import { unfolded } from '../../../api/web/run/tree/folds.ts'

// The agents of a run as a tree and on one time axis.

type TreeNode = RunTree['agents'][number]
const node = (agentId: string, parentId: string | null, more: Partial<TreeNode> = {}) =>
  ({ agentId, parentId, createdAt: '2026-01-01T00:00:00Z', completedAt: null, code: null, ...more }) as TreeNode

describe('a tree of agents', () => {
  const agents = [node('r', null), node('a', 'r'), node('b', 'a'), node('c', 'b'), node('d', 'r')]
  const told = (...folded: string[]) =>
    unfolded(agents, new Set(folded)).map(
      ({ node, below, isFolded }) => `${node.agentId}${below}${isFolded ? '+' : ''}`,
    )

  it('counts the agents below each one at all depths', () => {
    expect(told()).toEqual(['r4', 'a2', 'b1', 'c0', 'd0'])
  })

  it('hides all that is below a folded agent, and nothing else', () => {
    expect(told('a')).toEqual(['r4', 'a2+', 'd0'])
    expect(told('r', 'b')).toEqual(['r4+'])
  })

  it('shows an agent whose parent is not known', () => {
    expect(unfolded([node('x', 'gone')], new Set()).length).toBe(1)
  })
})

describe('the bars of an agent', () => {
  const bars = (...types: string[]) =>
    barsOf({ types, times: types.map((_, i) => 10 * i), work: [] }).map(({ kind, from, to }) => [kind, from, to])

  it('wait from the first child to the end of the last one', () => {
    expect(bars('child_delegated', 'child_delegated', 'child_ended', 'turn_end', 'child_unreached')).toEqual([
      ['children', 0, 40],
    ])
  })

  it('are open where no decision has come, and begin anew after one', () => {
    expect(bars('approval_requested', 'approval_decided', 'approval_requested')).toEqual([
      ['approval', 0, 10],
      ['approval', 20, null],
    ])
  })

  it('tell which calls failed', () => {
    const call = { kind: 'tool', turn: 1 } as const
    const work = [
      { ...call, from: 0, to: 1, failed: true },
      { ...call, from: 2, to: 3, failed: false },
    ]
    const types = ['tool_call_start', 'tool_call_end', 'tool_call_start', 'tool_call_end']
    expect(barsOf({ types, times: [0, 1, 2, 3], work }).map(({ failed }) => failed)).toEqual([1, 0])
  })

  it('are not made by an end without a beginning', () => {
    expect(bars('resumed', 'paused', 'resumed')).toEqual([['pause', 10, 20]])
  })
})

describe('the drawn bars', () => {
  /** Calls one after the other, by pauses and lengths in ms. */
  const calls = (steps: readonly (readonly [pause: number, length: number])[]): readonly Bar[] => {
    let at = 0
    return steps.map(([pause, length], revision) => {
      const from = at + pause
      at = from + length
      return { kind: 'model', from, to: at, revision, failed: revision % 3 === 0 ? 1 : 0 }
    })
  }
  const steps = fc.array(fc.tuple(fc.nat(50), fc.nat(50)), { minLength: 1, maxLength: 400 })

  it('stand for every bar of the time once, cover it, and are few', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 20 }), fc.nat(300), (all, parts, from) => {
        const bars = calls(all)
        const view = { from, to: Math.max(from + 1, bars.at(-1)!.to!) }
        const inside = bars.filter((bar) => bar.to! >= view.from && bar.from <= view.to)
        const drawn = drawnBars(bars, view, parts)
        expect(drawn.reduce((sum, { count }) => sum + count, 0)).toBe(inside.length)
        const failed = (all: readonly Bar[]) => all.reduce((sum, bar) => sum + bar.failed, 0)
        expect(failed(drawn)).toBe(failed(inside))
        expect(drawn.length).toBeLessThanOrEqual(2 * parts + 2)
        for (const bar of inside) expect(drawn.some(({ from, to }) => from <= bar.from && to! >= bar.to!)).toBe(true)
      }),
    )
  })

  it('are the bars themselves where each one has room', () => {
    const bars = calls([
      [0, 40],
      [10, 40],
    ])
    expect(drawnBars(bars, { from: 0, to: 90 }, 10)).toEqual(bars.map((bar) => ({ ...bar, count: 1 })))
  })

  it('keep an open bar and the kinds apart', () => {
    const bars: readonly Bar[] = [
      { kind: 'tool', from: 0, to: 1, revision: 0, failed: 0 },
      { kind: 'model', from: 1, to: 2, revision: 1, failed: 0 },
      { kind: 'tool', from: 2, to: null, revision: 2, failed: 0 },
    ]
    expect(drawnBars(bars, { from: 0, to: 1_000 }, 2).map(({ kind, to }) => [kind, to])).toEqual([
      ['tool', 1],
      ['model', 2],
      ['tool', null],
    ])
  })
})

describe('the lines between agents', () => {
  const ended = { completedAt: '2026-01-01T00:00:05Z', status: 'completed' } as const
  const agents = [node('r', null), node('a', 'r', ended), node('b', 'r')]
  const message = { from: 'a', to: null, receivedBy: ['r', 'b', 'person'], timestamp: '2026-01-01T00:00:02Z' }

  it('are delegations, messages to each recipient, and ends, by their times', () => {
    const links = linksOf(agents, [{ ...message, type: 'event', topic: 'news' }])
    expect(links.map(({ kind, from, to, text }) => [kind, from, to, text])).toEqual([
      ['delegation', 0, 1, 'delegated'],
      ['delegation', 0, 2, 'delegated'],
      ['message', 1, 0, 'event news'],
      ['message', 1, 2, 'event news'],
      ['end', 1, 0, 'completed'],
    ])
  })

  it('touch the lanes between the two agents only', () => {
    expect([0, 1, 2, 3].map((lane) => partOn({ from: 2, to: 0 }, lane))).toEqual(['down', 'across', 'up', null])
  })

  it('are on the lanes that they touch, and lines of one look and place are drawn as one', () => {
    const at = (n: number) => ({ kind: 'message' as const, from: 0, to: 2, at: n, text: 'event' })
    const lanes = linksByLane([at(0), at(1), at(90)], 4)
    expect(lanes.map(({ length }) => length)).toEqual([3, 3, 3, 0])
    const drawn = drawnLinks(lanes[2]!, { from: 0, to: 100 }, 10)
    expect(drawn.map(({ part, arrives, at, count }) => [part, arrives, at, count])).toEqual([
      ['up', true, 0, 2],
      ['up', true, 90, 1],
    ])
    expect(drawnLinks(lanes[2]!, { from: 50, to: 100 }, 10).length).toBe(1)
  })
})
