import type { Row, TableName } from '../schema/tables.ts'

export type Cell = string | number | null
export type Cells = Readonly<Record<string, Cell>>

/**
 * The effect of one event on one row of its stream. Changes contain values, never differences, so applying the same
 * events again gives the same rows.
 * - `put`: inserts or updates the row with `columns`; `initial` columns apply to an insert only.
 * - `set`: updates the row, if it exists.
 * - `remove`: deletes the row, if it exists.
 * - `clear`: deletes all rows of the stream in this table.
 */
export type Change =
  | {
      readonly kind: 'put'
      readonly table: TableName
      readonly key: Cells
      readonly columns: Cells
      readonly initial: Cells
    }
  | { readonly kind: 'set'; readonly table: TableName; readonly key: Cells; readonly columns: Cells }
  | { readonly kind: 'remove'; readonly table: TableName; readonly key: Cells }
  | { readonly kind: 'clear'; readonly table: TableName }

export const put = <T extends TableName>(
  table: T,
  key: Partial<Row<T>>,
  columns: Partial<Row<T>>,
  initial: Partial<Row<T>> = {},
): Change => ({ kind: 'put', table, key: key as Cells, columns: columns as Cells, initial: initial as Cells })

export const set = <T extends TableName>(table: T, key: Partial<Row<T>>, columns: Partial<Row<T>>): Change => ({
  kind: 'set',
  table,
  key: key as Cells,
  columns: columns as Cells,
})

export const remove = <T extends TableName>(table: T, key: Partial<Row<T>>): Change => ({
  kind: 'remove',
  table,
  key: key as Cells,
})

export const clear = (table: TableName): Change => ({ kind: 'clear', table })
