import type { Column, Row, RowEncoder } from '../../../adapters/files/rows/column.ts'
import { csvEncoder } from '../../../adapters/files/rows/csv.ts'
import { lineEncoder, ndjsonEncoder } from '../../../adapters/files/rows/ndjson.ts'
import { NewFile } from '../../../adapters/files/rows/new-file.ts'
import { CellError } from '../../../adapters/parquet/column-values.ts'
import { parquetEncoder } from '../../../adapters/parquet/encoder.ts'
import { EXPORT_SCHEMA } from './event-row.ts'
import { ExportError } from './export-error.ts'
import type { ExportFormat } from './manifest.ts'

/** The most rows of a group, and the most characters of its texts. Memory is bounded by the group. */
const GROUP_ROWS = 20_000
const GROUP_CHARACTERS = 16 * 1024 * 1024

export function encoderOf(format: ExportFormat, columns: readonly Column[]): RowEncoder {
  if (format === 'csv') return csvEncoder(columns)
  if (format === 'ndjson') return ndjsonEncoder(columns)
  if (format === 'cloudevents') return lineEncoder()
  return parquetEncoder(columns, { 'keepup.schema': String(EXPORT_SCHEMA) })
}

/** A file of rows that is being written. */
export class RowFile {
  /** The number of rows, and of the characters of their texts. */
  rows = 0
  characters = 0
  readonly #file: NewFile
  readonly #encoder: RowEncoder
  #group: Row[] = []
  #grouped = 0

  private constructor(file: NewFile, encoder: RowEncoder) {
    this.#file = file
    this.#encoder = encoder
  }

  /** `path`: of the folder and an unfinished name. */
  static async open(path: string, encoder: RowEncoder): Promise<RowFile> {
    return new RowFile(await NewFile.open(path), encoder)
  }

  /** Null: the row is kept for its group, so the caller need not wait. */
  add(row: Row): Promise<void> | null {
    this.#group.push(row)
    this.rows++
    for (const cell of row) if (typeof cell === 'string') this.#grouped += cell.length
    if (this.#group.length === GROUP_ROWS || this.#grouped > GROUP_CHARACTERS) return this.#flush()
    return null
  }

  /** Gives the file its name. Returns its SHA-256. */
  async publish(name: string): Promise<string> {
    await this.#flush()
    await this.#file.write(this.#encoder.end())
    return this.#file.publish(name)
  }

  discard(): Promise<void> {
    return this.#file.discard()
  }

  async #flush(): Promise<void> {
    if (this.#group.length === 0) return
    await this.#file.write(this.#encoded())
    this.characters += this.#grouped
    this.#group = []
    this.#grouped = 0
  }

  #encoded(): Uint8Array {
    try {
      return this.#encoder.rows(this.#group)
    } catch (error) {
      if (!(error instanceof CellError)) throw error
      throw new ExportError('EXPORT_FORMAT', `${error.message}; export with --format csv or ndjson into a new folder`)
    }
  }
}
