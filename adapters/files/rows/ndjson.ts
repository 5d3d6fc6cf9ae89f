import type { Cell, Column, RowEncoder } from './column.ts'

const utf8 = new TextEncoder()
const NOTHING = new Uint8Array(0)

/** A JSON object per row. A column of type `json` is a value, not a text. */
export function ndjsonEncoder(columns: readonly Column[]): RowEncoder {
  const members = columns.map(({ name, type }, n) => ({
    before: `${n === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    isJson: type === 'json',
  }))
  const value = (cell: Cell, isJson: boolean) => (isJson && cell !== null ? String(cell) : JSON.stringify(cell))
  const line = (row: readonly Cell[]) =>
    `${members.map(({ before, isJson }, n) => before + value(row[n] ?? null, isJson)).join('')}}\n`
  return { rows: (rows) => utf8.encode(rows.map(line).join('')), end: () => NOTHING }
}

/** Rows of one cell, each a line. */
export const lineEncoder = (): RowEncoder => ({
  rows: (rows) => utf8.encode(rows.map(([text]) => `${text}\n`).join('')),
  end: () => NOTHING,
})
