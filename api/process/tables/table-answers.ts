import type { Kysely } from 'kysely'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { Answer, Database, RebuildReport } from '../../../projections/index.ts'
import type { Shown } from '../../operations/read-model.ts'

/** The source of answers: the parts of `Projections` that queries need, whichever process updates the tables. */
export interface Tables {
  read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>>
  /** Like {@link read}, but `query` may await anything and delays no other answer. Absent: {@link read} does so. */
  readApart?<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>>
  /** Resolves without a wait if every store behind the answers is usable. Absent: a {@link read} checks that. */
  answers?(): Promise<void>
  /** Resolves when answers include the event of this cursor. Rejects when the signal aborts. */
  caughtUpTo(cursor: Cursor, signal: AbortSignal): Promise<void>
  /** The progress of this process's rebuild; null: none is running. Absent: this process rebuilds no tables. */
  rebuilding?(): { readonly events: number; readonly of: number } | null
  rebuild(how: { readonly accept: boolean }): Promise<RebuildReport>
  /** True: the stream is no longer parked. */
  release(stream: string): Promise<boolean>
}

/** Queries the tables and converts the result to an answer of the API. */
export type AskTables = <T, U>(
  query: (db: Kysely<Database>) => Promise<T>,
  then: (data: T) => U | Promise<U>,
) => Promise<Shown<U>>
