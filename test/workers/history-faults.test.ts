import { expect, test } from 'vitest'
import { faultsOfHistory, type HistoryLine } from '../support/servers/history-faults.ts'

const invoke = (id: string, expected: number, ...events: string[]): HistoryLine => ({
  is: 'invoke',
  id,
  stream: 'agent-a',
  expected,
  events,
})
const end = (id: string, is: 'ok' | 'fail' | 'unknown'): HistoryLine => ({ is, id })
const log = (...ids: string[]) => new Map([['agent-a', ids.map((id, revision) => ({ id, revision }))]])

/** Two events that are acknowledged, a refused rival of them, an append without an answer, and one that goes on. */
const history = [
  invoke('1', -1, 'a', 'b'),
  invoke('2', -1, 'x'),
  end('1', 'ok'),
  end('2', 'fail'),
  invoke('3', 1, 'c', 'd'),
  end('3', 'unknown'),
  invoke('4', 1, 'y'),
  invoke('5', 3, 'e'),
  end('5', 'ok'),
]

test('a log that the history explains has no faults', () => {
  expect(faultsOfHistory(history, log('a', 'b', 'c', 'd', 'e'))).toEqual([])
  expect(faultsOfHistory(history.slice(0, 7), log('a', 'b'))).toEqual([])
  expect(faultsOfHistory(history.slice(0, 7), log('a', 'b', 'y'))).toEqual([])
})

test.each([
  ['an acknowledged event is lost', log('a', 'b', 'c', 'd'), /ok append of 1 .* at 3 is lost/],
  ['an acknowledged event is elsewhere', log('b', 'a', 'c', 'd', 'e'), /ok append of 2 .* at -1 is lost/],
  ['an append is there in part', log('a', 'b', 'c', 'y', 'e'), /unknown append of 2 .* at 1 is there in part/],
  ['a refused event is there', log('x', 'b', 'c', 'd', 'e'), /fail append of 1 .* at -1 is in the log/],
  ['an event is there twice', log('a', 'b', 'c', 'd', 'e', 'c'), /event c is at agent-a@2 and agent-a@5/],
  ['nobody appended an event', log('a', 'b', 'c', 'd', 'e', 'z'), /event z at agent-a@5 was appended by nobody/],
  [
    'a revision is missing',
    new Map([['agent-a', ['a', 'b', 'c', 'd', 'e'].map((id, n) => ({ id, revision: n < 3 ? n : n + 1 }))]]),
    /agent-a has revision 4 where 3 belongs/,
  ],
] as const)('%s', (_, stored, fault) => {
  expect(faultsOfHistory(history, stored)).toContainEqual(expect.stringMatching(fault))
})
