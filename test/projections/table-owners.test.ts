import { expect, test } from 'vitest'
import { specOf, tableNames } from '../../projections/engine/schema/tables.ts'

test('a table whose owner column holds an id names the kinds of its streams, so that verify finds its rows', () => {
  const tables = tableNames().map((name) => ({ name, ...specOf(name) }))
  expect(tables.length).toBeGreaterThan(20)
  const lost = tables.filter(({ owner, kind }) => owner !== 'stream' && kind === undefined)
  expect(lost.map(({ name }) => name)).toEqual([])
})
