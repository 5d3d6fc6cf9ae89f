import { agentTables } from '../../agent/tables.ts'
import { treeTables } from '../../agent/tree-tables.ts'
import { documentTables } from '../../document/tables.ts'
import { memoryTables } from '../../memory/tables.ts'
import { contextTables } from '../../store/tables.ts'
import type { TableSpec } from './columns.ts'
import { factTables } from './fact-tables.ts'
import { streamTables } from './stream-tables.ts'

// The tables as data: SQL, row types, comparison and clearing derive from them. Every change is a new schema version.
export const tables = {
  ...agentTables,
  ...treeTables,
  ...factTables,
  ...documentTables,
  ...memoryTables,
  ...contextTables,
  ...streamTables,
} as const

export type TableName = keyof typeof tables

type Value<C> = C extends 'text!'
  ? string
  : C extends 'integer!'
    ? number
    : C extends 'text'
      ? string | null
      : number | null

export type RowOf<S extends TableSpec> = { [C in keyof S['columns']]: Value<S['columns'][C]> }

export type Row<T extends TableName> = RowOf<(typeof tables)[T]>

export const tableNames = Object.keys(tables) as TableName[]
export const specOf = (table: TableName): TableSpec => tables[table]
