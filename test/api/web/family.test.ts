import { describe, expect, it } from 'vitest'
import type { RunTree } from '../../../api/operations/runs/schemas.ts'
import { barsOf, linksOf, partOn } from '../../../api/web/run/family/lanes.ts'
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

  it('are not made by an end without a beginning', () => {
    expect(bars('resumed', 'paused', 'resumed')).toEqual([['pause', 10, 20]])
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
})
