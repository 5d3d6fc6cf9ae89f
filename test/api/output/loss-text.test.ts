import { expect, test } from 'vitest'
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
