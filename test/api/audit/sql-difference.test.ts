import { describe, expect, it } from 'vitest'
import { differenceOf } from '../../../api/operations/sql/difference.ts'

const columns = ['id', 'turn', 'status']
const earlier = {
  columns,
  rows: [
    ['a', 1, 'running'],
    ['b', 1, 'done'],
    ['c', 1, 'done'],
  ],
}
const later = {
  columns,
  rows: [
    ['d', 1, 'running'],
    ['a', 1, 'done'],
    ['b', 1, 'done'],
  ],
}

describe('the difference of two answers', () => {
  it('has the added, changed and removed rows, told apart by the first column', () => {
    expect(differenceOf(earlier, later, [], 10)).toEqual({
      more: false,
      columns: ['change', ...columns],
      rows: [
        ['added', 'd', 1, 'running'],
        ['before', 'a', 1, 'running'],
        ['after', 'a', 1, 'done'],
        ['removed', 'c', 1, 'done'],
      ],
    })
  })

  it('tells rows apart by the named columns', () => {
    const found = differenceOf(earlier, later, ['id', 'status'], 10)
    expect(found.rows.map(([change, id]) => `${change} ${id}`)).toEqual([
      'added d',
      'added a',
      'removed a',
      'removed c',
    ])
  })

  it.each([
    [1, 'd'],
    [2, 'd'],
    [3, 'd a a'],
    [4, 'd a a c'],
  ])('has at most %i rows, and never a row before its change without the one after', (limit, ids) => {
    const { rows, more } = differenceOf(earlier, later, [], limit)
    expect([rows.map((row) => row[1]).join(' '), more]).toEqual([ids, limit < 4])
  })

  it.each([
    [['change', 'id'], /column "change".*another name/],
    [['id', 'turn', 'id'], /two columns have the name "id".*id as other/],
  ])('refuses the columns %j', (names, message) => {
    const table = { columns: names, rows: [] }
    expect(() => differenceOf(table, table, [], 10)).toThrow(message)
  })

  it.each([
    ['a column that the answer lacks', ['no'], /no column "no".*id, turn, status/],
    ['a key that two rows share', ['turn'], /two rows have the same turn/],
  ])('refuses %s', (_, key, message) => {
    expect(() => differenceOf(earlier, later, key, 10)).toThrow(message)
  })
})
