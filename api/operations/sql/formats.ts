import type { SqlAnswer, SqlCell } from './auditor.ts'

type Table = Pick<SqlAnswer, 'columns' | 'rows'>

/** A spreadsheet would take a text that begins so for a formula: RFC 4180 has no way to say that it is none. */
const FORMULA = /^[=+\-@\t\r]/

function field(cell: SqlCell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) || text !== cell ? `"${text.replaceAll('"', '""')}"` : text
}

/** Rows as CSV (RFC 4180), the names first. A text that a spreadsheet would run as a formula has a `'` before it. */
export const csvOf = ({ columns, rows }: Table): string =>
  [columns, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('')

/** Rows as NDJSON, an object each; of columns with one name the last one counts, as in the JSON of other tools. */
export const ndjsonOf = ({ columns, rows }: Table): string =>
  rows.map((row) => `${JSON.stringify(Object.fromEntries(row.map((cell, i) => [columns[i]!, cell])))}\n`).join('')
