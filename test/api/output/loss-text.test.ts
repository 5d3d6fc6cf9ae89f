import { expect, test } from 'vitest'
import { acceptedLines } from '../../../api/cli/output/loss-text.ts'
import { type Loss, lossText } from '../../../api/operations/losses/loss.ts'

const loss = (end: number, mark: number | null, tables: number | null): Loss => {
  const seen = (position: number | null) => (position === null ? null : { position, hash: 'a'.repeat(64) })
  return { id: 'a', end, mark: seen(mark), tables: seen(tables), streams: [], unlisted: false, gaps: [] }
}

test('a log that ends before its witnesses has lost its end', () => {
  expect(lossText(loss(17, 47, 40))).toBe(
    'the log has lost its end: it ends at position 17, but its mark has seen position 47, and the tables have seen position 40',
  )
})

test('a log that goes on beyond its witness holds another event there', () => {
  expect(lossText(loss(47, 18, null))).toBe(
    'the log has lost events: at position 18 it holds another event than its mark has seen',
  )
})

test.each([
  [{}, []],
  [{ kept: 1 }, ['  the log kept 1 event of the signed tree; heads of more events are superseded']],
  [{ kept: 40 }, ['  the log kept 40 events of the signed tree; heads of more events are superseded']],
])('an accepted loss with %j names the events of the signed tree that the log kept', (kept, lines) => {
  const none = { streams: [], vanished: [], unreadable: [], gaps: [] }
  const by = { kind: 'user', id: 'ann' } as const
  const all = acceptedLines({ id: 'a', by, at: '2026-01-01', reason: 'disk', end: 3, ...none, ...kept })
  expect(all).toEqual(['a loss of the log was accepted by ann at 2026-01-01: disk', ...lines])
})
