/** Bounds of a question in SQL. */
export interface SqlLimits {
  /** Rows at most; `more` says that others follow. */
  readonly rows: number
  readonly ms: number
}

export type SqlCell = string | number | null

/** What a question in SQL gave: rows as lists of cells in the order of the columns. */
export interface SqlAnswer {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly SqlCell[])[]
  /** The rows, or the bytes, that an answer may have were not enough for all of it. */
  readonly more: boolean
}

/** Answers questions in SQL about the tables and the log. Nothing can be written through it. */
export interface SqlAuditor {
  readonly dialect: 'sqlite' | 'postgres'
  /**
   * Rejects with a Problem: `SQL_REFUSED` where the text is not one SELECT, or asks for what may not be read; `SQL_FAILED`
   * where it fails; `SQL_LIMIT` where it takes too long or too much memory; `SQL_UNAVAILABLE` where no question can be asked.
   */
  ask(text: string, limits: SqlLimits): Promise<SqlAnswer>
  close(): Promise<void>
}

/** Bytes of the cells of an answer, at most. */
export const MOST_BYTES = 8 * 1024 * 1024
/** Characters of a question, at most. */
export const MOST_TEXT = 64 * 1024

const SELECT = /^(?:\s|--.*\n|\/\*[\s\S]*?\*\/)*(?:select|with|values)\b/i

/** The text of a question without what ends it; null: it is no SELECT. */
export function selectIn(text: string): string | null {
  const one = text.replace(/[\s;]+$/, '')
  return SELECT.test(one) ? one : null
}

/** A value as JSON holds it: bytes as hex; a whole number that JSON would round as text. */
export function cellOf(value: unknown): SqlCell {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'number' ? value : String(value)
}

/** Collects rows up to the bounds of an answer. */
export class Collected {
  readonly rows: SqlCell[][] = []
  more = false
  readonly #most: number
  #bytes = 0
  constructor(most: number) {
    this.#most = most
  }

  /** False: there is no room for this row, nor for another one. */
  add(row: SqlCell[]): boolean {
    this.#bytes += row.reduce<number>((sum, cell) => sum + (typeof cell === 'string' ? Buffer.byteLength(cell) : 8), 0)
    if (this.rows.length === this.#most || this.#bytes > MOST_BYTES) {
      this.more = true
      return false
    }
    this.rows.push(row)
    return true
  }
}
