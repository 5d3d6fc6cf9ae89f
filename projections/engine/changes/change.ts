import type { Row, TableName } from '../schema/tables.ts'

export type Cell = string | number | null
export type Cells = Readonly<Record<string, Cell>>

/**
 * The effect of one event on one row. Changes carry values, never differences, so that taking the same events again gives
 * the same rows. All of them belong to the stream that the event is in.
 * - `put`: the row has these columns afterwards, whether it was there or not; `initial` columns count only if it was not.
 * - `set`: the same for a row that is there; no row, no change.
 * - `remove`: no such row afterwards.
 * - `clear`: no row of the stream in this table.
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
