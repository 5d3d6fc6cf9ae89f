import type { SqlCell } from '../../operations/sql/auditor.ts'
import { csvOf } from '../../operations/sql/formats.ts'

type Rec = Readonly<Record<string, unknown>>

/** A cell is a text or a number; other values are JSON text. */
const cellOf = (value: unknown): SqlCell => {
  if (value === undefined || value === null) return null
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value)
}

/** Records as CSV: a column for each member of any record, in the order of their first appearance. No record: no text. */
export function csvRecords(records: readonly object[]): string {
  const columns = [...new Set(records.flatMap((record) => Object.keys(record)))]
  return columns.length === 0 ? '' : csvRows(columns)(records)
}

/** Writes records as CSV piece by piece, the header line with the first. Members that are no column are left out. */
export function csvRows(columns: readonly string[]): (records: readonly object[]) => string {
  let begun = false
  return (records) => {
    const rows = records.map((record) => columns.map((name) => cellOf((record as Rec)[name])))
    const text = csvOf({ columns: [...columns], rows })
    const written = begun ? text.slice(csvOf({ columns: [...columns], rows: [] }).length) : text
    begun = true
    return written
  }
}
