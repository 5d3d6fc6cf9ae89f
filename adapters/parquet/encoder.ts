import { constants, zstdCompressSync } from 'node:zlib'
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import type { Cell, Column, ColumnType, RowEncoder } from '../files/rows/column.ts'

const PHYSICAL: { readonly [T in ColumnType]: Omit<SchemaElement, 'name'> } = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  int32: { type: 'INT32' },
  integer: { type: 'INT64' },
  real: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  time: {
    type: 'INT64',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  // With `converted_type`, the writer would serialise the text again. It is added at the end, because DuckDB needs it.
  json: { type: 'BYTE_ARRAY', logical_type: { type: 'JSON' } },
}

/** The value of a cell for the writer. */
const VALUE: { readonly [T in ColumnType]?: (cell: Exclude<Cell, null>) => bigint | Uint8Array } = {
  integer: (cell) => BigInt(cell),
  time: (cell) => BigInt(Date.parse(String(cell))),
  json: (cell) => Buffer.from(String(cell)),
}

/** A higher level takes more time than the rest of the encoder, and saves little. */
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Hands over its bytes after each group, so that memory does not grow with the file. */
class Drained extends ByteWriter {
  take(): Uint8Array {
    const bytes = this.getBytes().slice()
    this.index = 0
    return bytes
  }
}

/** Parquet, compressed by ZSTD. */
export function parquetEncoder(columns: readonly Column[], metadata: Readonly<Record<string, string>>): RowEncoder {
  const writer = new Drained()
  const file = new ParquetWriter({
    writer,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(({ name, type, required }) => ({
        name,
        repetition_type: required ? ('REQUIRED' as const) : ('OPTIONAL' as const),
        ...PHYSICAL[type],
      })),
    ],
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes, LEVEL) },
    createdBy: 'keepup',
    kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
  })
  return {
    rows(rows) {
      const columnData = columns.map(({ name, type, distinct = type === 'json' }, n) => {
        // The writer allocates memory for each text. A buffer takes it from a pool.
        const value = VALUE[type] ?? (distinct ? (cell) => Buffer.from(String(cell)) : (cell) => cell)
        const data = rows.map((row) => {
          const cell = row[n] ?? null
          return cell === null ? null : value(cell)
        })
        return { name, data, ...(distinct && { statistics: false, encoding: 'PLAIN' as const }) }
      })
      void file.write({ columnData, rowGroupSize: rows.length })
      return writer.take()
    },
    end() {
      for (const element of file.schema) if (element.logical_type?.type === 'JSON') element.converted_type = 'JSON'
      void file.finish()
      return writer.take()
    },
  }
}
