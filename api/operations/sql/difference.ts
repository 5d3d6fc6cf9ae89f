import { Problem } from '../problem.ts'
import type { SqlCell, SqlResult } from './auditor.ts'

type Row = readonly SqlCell[]
/** The first column of a difference. */
const CHANGE = 'change'

type Table = Pick<SqlResult, 'columns' | 'rows'>

/**
 * The difference of two answers to one question. The first column is `change`: `added`, `removed`, or `before` and
 * `after`, the two rows of a change. Rows with equal cells in the columns of `key` are the same row; without a key, the first
 * column decides. Rows of the later answer come first in their order, then the removed ones. At most `limit` rows, and never
 * a `before` without its `after`. Throws a Problem `SQL_REFUSED` for an unknown column of the key, for two rows with the same
 * key, for two columns with the same name, and for a column `change`.
 */
export function differenceOf(earlier: Table, later: Table, key: readonly string[], limit: number): SqlResult {
  mustHaveNames(later.columns)
  const places = keyPlaces(later.columns, key)
  const left = byKey(earlier.rows, places, later.columns)
  const rows: Row[] = []
  for (const [id, row] of byKey(later.rows, places, later.columns)) {
    const before = left.get(id)
    left.delete(id)
    if (before === undefined) rows.push(['added', ...row])
    else if (before.some((cell, i) => cell !== row[i])) rows.push(['before', ...before], ['after', ...row])
  }
  for (const row of left.values()) rows.push(['removed', ...row])
  const cut = rows.length > limit && rows[limit - 1]?.[0] === 'before' ? limit - 1 : limit
  return { columns: [CHANGE, ...later.columns], rows: rows.slice(0, cut), more: rows.length > limit }
}

function mustHaveNames(columns: readonly string[]): void {
  if (columns.includes(CHANGE))
    throw new Problem(
      'SQL_REFUSED',
      `the difference has a column "${CHANGE}" of its own; give that of the answer another name, such as ${CHANGE} as what`,
    )
  const twice = columns.find((name, i) => columns.indexOf(name) !== i)
  if (twice !== undefined)
    throw new Problem(
      'SQL_REFUSED',
      `two columns have the name "${twice}"; give one another name, such as ${twice} as other`,
    )
}

function keyPlaces(columns: readonly string[], key: readonly string[]): readonly number[] {
  const places = key.map((name) => columns.indexOf(name))
  const unknown = key[places.indexOf(-1)]
  if (unknown !== undefined)
    throw new Problem('SQL_REFUSED', `the answer has no column "${unknown}"; name a key of ${columns.join(', ')}`)
  return places.length === 0 ? [0] : places
}

function byKey(rows: readonly Row[], places: readonly number[], columns: readonly string[]): Map<string, Row> {
  const found = new Map<string, Row>()
  for (const row of rows) {
    const id = JSON.stringify(places.map((place) => row[place] ?? null))
    if (found.has(id)) {
      const names = places.map((place) => columns[place]).join(', ')
      throw new Problem(
        'SQL_REFUSED',
        `two rows have the same ${names}; name columns that tell all rows apart as the key`,
      )
    }
    found.set(id, row)
  }
  return found
}
