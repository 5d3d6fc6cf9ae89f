import type { SpecRow, TableSpecs } from '../schema/columns.ts'

export type CellValue = string | number | null
export type Cells = Readonly<Record<string, CellValue>>

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
      readonly table: string
      readonly key: Cells
      readonly columns: Cells
      readonly initial: Cells
    }
  | { readonly kind: 'set'; readonly table: string; readonly key: Cells; readonly columns: Cells }
  | { readonly kind: 'remove'; readonly table: string; readonly key: Cells }
  | { readonly kind: 'clear'; readonly table: string }

/** The functions that make changes of some tables, typed by the columns of these tables. */
export interface ChangesIn<S extends TableSpecs> {
  put<T extends keyof S & string>(
    table: T,
    key: Partial<SpecRow<S[T]>>,
    columns: Partial<SpecRow<S[T]>>,
    initial?: Partial<SpecRow<S[T]>>,
  ): Change
  set<T extends keyof S & string>(table: T, key: Partial<SpecRow<S[T]>>, columns: Partial<SpecRow<S[T]>>): Change
  remove<T extends keyof S & string>(table: T, key: Partial<SpecRow<S[T]>>): Change
}

const changes = {
  put: (table: string, key: object, columns: object, initial: object = {}): Change => ({
    kind: 'put',
    table,
    key: key as Cells,
    columns: columns as Cells,
    initial: initial as Cells,
  }),
  set: (table: string, key: object, columns: object): Change => ({
    kind: 'set',
    table,
    key: key as Cells,
    columns: columns as Cells,
  }),
  remove: (table: string, key: object): Change => ({ kind: 'remove', table, key: key as Cells }),
}

export const changesIn = <S extends TableSpecs>(): ChangesIn<S> => changes

export const clear = (table: string): Change => ({ kind: 'clear', table })
