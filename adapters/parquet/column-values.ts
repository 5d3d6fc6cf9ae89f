import type { Cell, Column, ColumnType } from '../files/rows/column.ts'

type Present = Exclude<Cell, null>

/** The cells of a column in a group of rows, as bytes of the encoding PLAIN. */
export interface ChunkValues {
  /** By cell: 1, or 0 for null. */
  readonly levels: Uint8Array
  readonly nulls: number
  /** The cells that are not null; with a dictionary: its values. */
  readonly plain: Uint8Array
  /** The number of values in the dictionary, and the index of each cell that is not null. Null: no dictionary. */
  readonly dictionary: { readonly size: number; readonly indexes: Uint32Array } | null
  /** The least and the greatest value. Null: not known, or no value. */
  readonly bounds: readonly [least: string | number | boolean, greatest: string | number | boolean] | null
}

/** A cell that is no value of its column's type. */
export class CellError extends RangeError {
  constructor(column: string, cell: Present, type: ColumnType) {
    super(`the column ${column} has ${cell}, which is no value of type ${type} in Parquet`)
    this.name = 'CellError'
  }
}

/** Encodes the cells of a column. Throws a {@link CellError} for a cell that is no value of the column's type. */
export function columnValues(column: Column, cells: readonly Cell[]): ChunkValues {
  const { name, type, required = false, distinct = type === 'json' } = column
  const levels = new Uint8Array(cells.length).fill(1)
  let nulls = 0
  for (let n = 0; n < cells.length; n++) {
    if (cells[n] !== null) continue
    levels[n] = 0
    nulls += 1
  }
  const present = (nulls === 0 ? cells : cells.filter((cell) => cell !== null)) as readonly Present[]
  if (required && nulls > 0) throw new RangeError(`the column ${name} has no value in a row, and needs one in each`)
  const shared = { levels, nulls }
  switch (type) {
    case 'text':
    case 'json': {
      const texts = present as readonly string[]
      if (distinct) return { ...shared, plain: plainTexts(texts), dictionary: null, bounds: null }
      const found = dictionaryOf(texts)
      const plain = plainTexts(found?.values ?? texts)
      const dictionary = found && { size: found.values.length, indexes: found.indexes }
      return { ...shared, plain, dictionary, bounds: textBounds(found?.values ?? texts) }
    }
    case 'boolean': {
      const bounds = present.length === 0 ? null : ([!present.includes(false), present.includes(true)] as const)
      return { ...shared, plain: plainBooleans(present), dictionary: null, bounds }
    }
    default: {
      const numbers = (type === 'time' ? timesOf(present) : present).map(Number)
      const isValid = { int32: isInt32, integer: isInt64, time: Number.isSafeInteger, real: isReal }[type]
      const wrong = numbers.findIndex((value) => !isValid(value))
      if (wrong >= 0) throw new CellError(name, present[wrong]!, type)
      const plain = { int32: plainInt32, integer: plainInt64, time: plainInt64, real: plainDouble }[type](numbers)
      return { ...shared, plain, dictionary: null, bounds: numberBounds(numbers) }
    }
  }
}

const isInt32 = (value: number): boolean => (value | 0) === value
/** A sum beyond the safe integers is a number too, as near as the database gave it. */
const isInt64 = (value: number): boolean => Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63
const isReal = (value: number): boolean => !Number.isNaN(value)

/** Times in ms since the epoch. Many events of an append have the same time. */
function timesOf(texts: readonly Present[]): number[] {
  let last: Present = ''
  let at = Number.NaN
  return texts.map((text) => {
    if (text !== last) at = Date.parse(String(text))
    last = text
    return at
  })
}

/** The different texts and the index of each. Null: they repeat too little. */
function dictionaryOf(texts: readonly string[]) {
  if (texts.length === 0) return null
  const places = new Map<string, number>()
  const indexes = new Uint32Array(texts.length)
  for (let n = 0; n < texts.length; n++) {
    const text = texts[n]!
    let place = places.get(text)
    if (place === undefined) {
      place = places.size
      if (place > texts.length / 2) return null
      places.set(text, place)
    }
    indexes[n] = place
  }
  return { values: [...places.keys()], indexes }
}

const utf8 = new TextEncoder()

/** Each text after its length, in one buffer for the whole column. */
function plainTexts(texts: readonly string[]): Uint8Array {
  let most = 0
  for (const text of texts) most += 4 + 3 * text.length
  const bytes = new Uint8Array(most)
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const text of texts) {
    const { written } = utf8.encodeInto(text, bytes.subarray(at + 4))
    view.setUint32(at, written, true)
    at += 4 + written
  }
  return bytes.subarray(0, at)
}

function plainBooleans(values: readonly Present[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(values.length / 8))
  for (let n = 0; n < values.length; n++) if (values[n]) bytes[n >> 3]! |= 1 << (n & 7)
  return bytes
}

const plainInt32 = (values: readonly number[]): Uint8Array =>
  filled(values, 4, (view, at, value) => view.setInt32(at, value, true))
const plainDouble = (values: readonly number[]): Uint8Array =>
  filled(values, 8, (view, at, value) => view.setFloat64(at, value, true))
/** In two halves: a bigint per value would take more time than the rest. */
const plainInt64 = (values: readonly number[]): Uint8Array =>
  filled(values, 8, (view, at, value) => {
    view.setUint32(at, value >>> 0, true)
    view.setInt32(at + 4, Math.floor(value / 2 ** 32), true)
  })

function filled(values: readonly number[], size: number, set: (view: DataView, at: number, value: number) => void) {
  const bytes = new Uint8Array(values.length * size)
  const view = new DataView(bytes.buffer)
  for (let n = 0; n < values.length; n++) set(view, n * size, values[n]!)
  return bytes
}

function numberBounds(values: readonly number[]): ChunkValues['bounds'] {
  if (values.length === 0) return null
  let [least, greatest] = [values[0]!, values[0]!]
  for (const value of values) {
    if (value < least) least = value
    if (value > greatest) greatest = value
  }
  // The specification asks for -0 as the least zero, and for 0 as the greatest.
  return [least === 0 ? -0 : least, greatest === 0 ? 0 : greatest]
}

/** In the order of their bytes in UTF-8. */
function textBounds(texts: readonly string[]): ChunkValues['bounds'] {
  if (texts.length === 0) return null
  let [least, greatest] = [texts[0]!, texts[0]!]
  for (const text of texts) {
    if (isBefore(text, least)) least = text
    else if (isBefore(greatest, text)) greatest = text
  }
  return [least, greatest]
}

/** The order of code units is another one only where surrogates meet characters after them. */
const AFTER = /[\ud800-\uffff]/
const isBefore = (a: string, b: string): boolean =>
  AFTER.test(a) && AFTER.test(b) ? Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0 : a < b
