import type { Kysely } from 'kysely'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { Answer, Database, RebuildReport } from '../../../projections/index.ts'
import type { Shown } from '../../operations/read-model.ts'

/** The source of answers: the parts of `Projections` that queries need, whichever process moves the tables. */
export interface Tables {
  read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>>
  /** Resolves when all that is behind answers can be used, at once; where absent a {@link read} says so. */
  answers?(): Promise<void>
  /** Resolves when answers show the event of this cursor; rejects when the signal says so. */
  caughtUpTo(cursor: Cursor, signal: AbortSignal): Promise<void>
  rebuild(how: { readonly accept: boolean }): Promise<RebuildReport>
  /** True: it is no longer parked. */
  release(stream: string): Promise<boolean>
}

/** Asks the tables, and makes what they say an answer of the API. */
export type Ask = <T, U>(
  query: (db: Kysely<Database>) => Promise<T>,
  then: (data: T) => U | Promise<U>,
) => Promise<Shown<U>>
