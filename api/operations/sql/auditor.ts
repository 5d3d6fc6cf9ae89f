import type { Cursor } from '../../../domain/log/cursor.ts'

/** The limits of an SQL question. */
export interface SqlLimits {
  /** The most rows. `more` of the answer says that others follow. */
  readonly rows: number
  readonly ms: number
  /** Aborts when the client leaves: the tables at a past position are then not made. */
  readonly signal?: AbortSignal
}

export type SqlCell = string | number | null

/** The result of an SQL question: rows as lists of cells in the order of the columns. */
export interface SqlResult {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly SqlCell[])[]
  /** True: the answer is incomplete because of the limit of rows or bytes. */
  readonly more: boolean
}

/** A past state of the tables. */
export interface PastState {
  /** The tables show the events up to this one. */
  readonly cursor: Cursor
  /** True: texts that were erased after this state may be null. */
  readonly erased: boolean
}

/** Answers SQL questions about the tables and the log. Read-only. */
export interface SqlAuditor {
  readonly dialect: 'sqlite' | 'postgres'
  /**
   * `state`: the tables as they were then; absent: as they are. Rejects with a Problem: `SQL_REFUSED` if the text is not one SELECT, or reads something forbidden; `SQL_FAILED` if
   * it fails; `SQL_LIMIT` if it takes too long or too much memory; `SQL_BUSY` if too many questions wait; `SQL_UNAVAILABLE` if questions,
   * or questions about a past state, are not possible; `BODY_ERASED` if texts of that state were erased later.
   */
  ask(text: string, limits: SqlLimits, state?: PastState): Promise<SqlResult>
  close(): Promise<void>
}

/** The most bytes of cells in an answer. */
export const MOST_BYTES = 8 * 1024 * 1024
/** The most characters of a question. */
export const MOST_TEXT = 64 * 1024

const SELECT = /^(?:\s|--.*\n|\/\*[\s\S]*?\*\/)*(?:select|with|values)\b/i

/** The text of a question without trailing semicolons and spaces. Null: not a SELECT. */
export function selectIn(text: string): string | null {
  const one = text.replace(/[\s;]+$/, '')
  return SELECT.test(one) ? one : null
}

/** A value for JSON. Bytes become hex. A whole number that JSON would round becomes text. */
export function cellOf(value: unknown): SqlCell {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'number' ? value : String(value)
}

/** Collects rows up to the limits of an answer. */
export class Collected {
  readonly rows: SqlCell[][] = []
  more = false
  readonly #most: number
  #bytes = 0
  constructor(most: number) {
    this.#most = most
  }

  /** False: the limit is reached, and the row was not added. */
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
