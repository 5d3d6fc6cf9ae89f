import type { SqlCell, SqlResult } from './auditor.ts'

type Table = Pick<SqlResult, 'columns' | 'rows'>

/** Spreadsheets treat a text with this start as a formula. RFC 4180 has no way to prevent that. */
const FORMULA = /^[=+\-@\t\r]/

function field(cell: SqlCell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) || text !== cell ? `"${text.replaceAll('"', '""')}"` : text
}

/** Rows as CSV (RFC 4180) with a header line. A text that a spreadsheet would run as a formula gets a `'` before it. */
export const csvOf = ({ columns, rows }: Table): string =>
  [columns, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('')

/**
 * Rows as NDJSON, one object per row. Of several columns with the same name the last one counts, as in other tools'
 * JSON.
 */
export const ndjsonOf = ({ columns, rows }: Table): string =>
  rows.map((row) => `${JSON.stringify(Object.fromEntries(row.map((cell, i) => [columns[i]!, cell])))}\n`).join('')
