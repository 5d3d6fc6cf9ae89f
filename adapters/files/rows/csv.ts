import type { Cell, Column, Row, RowEncoder } from './column.ts'

const utf8 = new TextEncoder()
const SPECIAL = /[",\r\n]/

/** Null is an empty field, and an empty text is `""`. */
function field(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  return cell === '' || SPECIAL.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

const line = (cells: Row): string => `${cells.map(field).join(',')}\r\n`

/** CSV (RFC 4180) with a header line. Texts are not changed, also where a spreadsheet would read a formula. */
export function csvEncoder(columns: readonly Column[]): RowEncoder {
  let head = line(columns.map(({ name }) => name))
  const withHead = (text: string): Uint8Array => {
    const bytes = utf8.encode(head + text)
    head = ''
    return bytes
  }
  return { rows: (rows) => withHead(rows.map(line).join('')), end: () => withHead('') }
}
