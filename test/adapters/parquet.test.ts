import { zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import type { Cell, Column, ColumnType } from '../../adapters/files/rows/column.ts'
import { parquetEncoder } from '../../adapters/parquet/encoder.ts'

// Parquet files, read by a package that is not the writer.

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\u0000', '🎈', '\uffee', '"') })
const CELLS: { readonly [T in ColumnType]: fc.Arbitrary<Exclude<Cell, null>> } = {
  text,
  int32: fc.integer(),
  integer: fc.maxSafeInteger(),
  real: fc.double({ noNaN: true }),
  boolean: fc.boolean(),
  time: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  json: text.map((value) => JSON.stringify({ value })),
}
const columns: readonly Column[] = (Object.keys(CELLS) as ColumnType[]).flatMap((type) => [
  { name: type, type },
  { name: `${type} required`, type, required: true },
  ...(type === 'text' ? [{ name: 'ids', type, distinct: true }] : []),
])
const row = fc.tuple(
  ...columns.map(({ type, required }) => (required === true ? CELLS[type] : fc.option(CELLS[type], { freq: 3 }))),
)

function fileOf(groups: readonly (readonly (readonly Cell[])[])[], of = columns): ArrayBuffer {
  const encoder = parquetEncoder(of, { 'keepup.schema': '1' })
  const bytes = Buffer.concat([...groups.map((rows) => encoder.rows(rows)), encoder.end()])
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
}

const plain = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? null)
}

const read = async (file: ArrayBuffer) =>
  (await parquetReadObjects({ file, compressors: { ZSTD: (input) => zstdDecompressSync(input) } })).map((found) =>
    columns.map(({ name }) => plain(found[name])),
  )

test('each cell is read as it was written, in groups of any size', async () => {
  const groups = fc.array(fc.array(row, { minLength: 1, maxLength: 40 }), { maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(groups, async (all) => {
      expect(await read(fileOf(all))).toEqual(all.flat())
    }),
    { numRuns: 60 },
  )
})

test('texts that repeat are stored once, and bounds are in the order of bytes', () => {
  const of = [{ name: 'kind', type: 'text' }] as const
  const words = ['\uffee', 'b', '🎈', 'c']
  const rows = Array.from({ length: 1_000 }, (_, n) => [words[n % 4]!])
  const { row_groups: [group] = [] } = parquetMetadata(fileOf([rows], of))
  expect(group?.columns[0]?.meta_data).toMatchObject({
    encodings: ['RLE_DICTIONARY', 'PLAIN'],
    statistics: { min_value: 'b', max_value: '🎈', null_count: 0n },
  })
  expect(Number(group?.columns[0]?.meta_data?.total_uncompressed_size)).toBeLessThan(400)
})

test('a cell that is no value of its column is refused', () => {
  for (const [type, cell] of [
    ['int32', 2 ** 31],
    ['integer', 0.5],
    ['integer', 2 ** 63],
    ['time', 'today'],
  ] as const)
    expect(() => fileOf([[[cell]]], [{ name: 'wrong', type }])).toThrow(`the column wrong has ${cell}`)
  expect(() => fileOf([[[null]]], [{ name: 'gone', type: 'text', required: true }])).toThrow('the column gone')
})

test('integers beyond the safe ones are written as they are', async () => {
  const cells = [2 ** 53, -(2 ** 53) - 2, 2 ** 62 + 2 ** 20, -(2 ** 63)]
  const file = fileOf([cells.map((cell) => [cell])], [{ name: 'sum', type: 'integer' }])
  const rows = await parquetReadObjects({ file, compressors: { ZSTD: (input) => zstdDecompressSync(input) } })
  expect(rows.map(({ sum }) => sum)).toEqual(cells.map(BigInt))
})
