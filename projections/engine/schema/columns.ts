/** `!`: never null. Flags are 0 or 1; times are ISO 8601 text, except `due.wake_at` (ms); money is nano-dollars. */
export type ColumnSpec = 'text' | 'text!' | 'integer' | 'integer!'

export interface TableSpec {
  readonly columns: Readonly<Record<string, ColumnSpec>>
  readonly key: readonly string[]
  /** The kind or kinds of streams that the rows come from; absent: any kind. */
  readonly kind?: string | readonly string[]
  /** The column that identifies a row's stream: by its owner's id, or by its name in tables of any kind. */
  readonly owner: string
  /** Many rows are larger than 1,000 bytes. SQLite would store each of them on a page of its own next to their keys. */
  readonly large?: true
  readonly indexes?: readonly (readonly string[])[]
  /** An index over few rows: its columns, and the SQL condition that queries must repeat literally to use it. */
  readonly partial?: { readonly columns: readonly string[]; readonly where: string }
}

/** Tables by name. */
export type TableSpecs = Readonly<Record<string, TableSpec>>

type Value<C> = C extends 'text!'
  ? string
  : C extends 'integer!'
    ? number
    : C extends 'text'
      ? string | null
      : number | null

/** A row of a table. */
export type SpecRow<S extends TableSpec> = { [C in keyof S['columns']]: Value<S['columns'][C]> }
