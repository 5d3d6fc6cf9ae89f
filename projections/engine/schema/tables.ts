import { KIND_TABLES, type KindTables } from '../../kinds.ts'
import type { SpecRow, TableSpec } from './columns.ts'
import { streamTables } from './stream-tables.ts'

// The tables as data: SQL, row types, comparison and clearing derive from them. Every change is a new schema version.

type Tables = KindTables & typeof streamTables

export type TableName = keyof Tables & string

export type Row<T extends TableName> = SpecRow<Tables[T]>

/** The tables of every kind of stream, then those with rows of any kind. */
export const tableNames = (): readonly string[] => [...KIND_TABLES.keys(), ...Object.keys(streamTables)]

const OF_ANY_KIND: ReadonlyMap<string, TableSpec> = new Map(Object.entries(streamTables))

/** Throws for an unknown table. */
export function specOf(table: string): TableSpec {
  const spec = KIND_TABLES.get(table) ?? OF_ANY_KIND.get(table)
  if (spec === undefined) throw new Error(`there is no table "${table}"; add the projection of its kind first`)
  return spec
}
