/** `int32`, `integer` (64 bits, as a safe integer), `real`, `time` (ISO 8601 in UTC), `json` (as text). */
export type ColumnType = 'text' | 'int32' | 'integer' | 'real' | 'boolean' | 'time' | 'json'

export interface Column {
  readonly name: string
  readonly type: ColumnType
  /** No value is null. */
  readonly required?: boolean
  /** Nearly every value differs, as those of hashes do. Encoders then look for no repetitions. */
  readonly distinct?: boolean
}

export type Cell = string | number | boolean | null
export type Row = readonly Cell[]

/** Encodes the rows of one file. The bytes of all calls, in order, are the file. */
export interface RowEncoder {
  /** The bytes of the next rows. Encoders that write in groups write these rows as one group. */
  rows(rows: readonly Row[]): Uint8Array
  /** The bytes after the last row. */
  end(): Uint8Array
}
