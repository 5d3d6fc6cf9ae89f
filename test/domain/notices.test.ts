import { expect, test } from 'vitest'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { agentNotice, NOTHING_YET, type RunSummary, summarize } from '../../domain/agent/notices.ts'
import { shortLine } from '../../domain/stream/notice.ts'

const BASE = {
  ...{ revision: 1, at: 0, turn: 1, agentId: 'r', runId: 'r', commandId: 'c', bodyHash: '', size: 0 },
  actor: { kind: 'driver', id: 'd' },
} as const
const ZERO = { output: 0, cacheRead: 0, cacheWrite: 0 }
const lost = (input: number, nanoDollars = 0): AgentEvent => ({
  ...{ ...BASE, type: 'model_attempt_lost' },
  body: { attempt: 1, purpose: 'turn', usage: { input, ...ZERO }, nanoDollars },
})

/** The types of the notices of some events, one after the other. */
function told(budget: RunSummary['budget'], events: readonly AgentEvent[]): (string | null)[] {
  let before: RunSummary = { ...NOTHING_YET, budget }
  return events.map((event) => {
    const after = summarize(before, event)
    const notice = agentNotice(event, { before, after })
    before = after
    return notice?.type ?? null
  })
}

test('a budget is low once, at 80 percent, and used up once', () => {
  const tokens = { tokens: 1_000, nanoDollars: null }
  expect(told(tokens, [lost(799), lost(1), lost(100), lost(100), lost(5)])).toEqual([
    ...[null, 'budget_low', null, 'budget_used', null],
  ])
  expect(told(tokens, [lost(5_000), lost(1)])).toEqual(['budget_used', null])
  const money = { tokens: 1_000_000, nanoDollars: 10 }
  expect(told(money, [lost(1, 7), lost(1, 1)])).toEqual([null, 'budget_low'])
  expect(told({ tokens: null, nanoDollars: null }, [lost(9e9, 9e9)])).toEqual([null])
})

test('a title is one line of bounded length without control characters', () => {
  expect(shortLine('\n \n  first \r\nsecond')).toBe('first')
  expect(shortLine('a\u0007\u202eb')).toBe('a  b')
  expect([...shortLine('😀'.repeat(300))]).toHaveLength(100)
  expect(shortLine(' \n ')).toBe('')
})
