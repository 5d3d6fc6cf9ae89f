import type { Kysely } from 'kysely'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { Database } from '../schema/database.ts'
import type { Progress, Store } from './store.ts'

/** An answer and the position in the log that it shows; null: no event was folded yet. */
export interface Answer<T> {
  readonly position: Cursor | null
  readonly data: T
}

/** The rows of one table that two sets of tables do not share. */
export interface Difference {
  readonly table: string
  readonly onlyLive: number
  readonly onlyRebuilt: number
  /** Up to three rows of each side. */
  readonly examples: { readonly live: readonly object[]; readonly rebuilt: readonly object[] }
}

/** Named sets of tables; one of them is the live one, which every request looks up. */
export interface Home {
  /** The live tables; null: there are none. */
  live(): Promise<string | null>
  /** The log of protected tables, which another log's tables may not replace; null: not protected, or not known. */
  logId(): Promise<string | null>
  /** The writing side, migrated where needed. Rejects with `SCHEMA_NEWER` or `SCHEMA_OTHER`. */
  open(name: string): Promise<Store>
  /** New, empty tables. */
  fresh(): Promise<{ readonly name: string; readonly store: Store }>
  /**
   * Compares live tables, as they are at the call, with others, which `catchUp` brings to the same position. Readers and
   * writers of the live ones go on. Null: they cannot be compared.
   */
  compare(live: string, rebuilt: string, catchUp: (to: Cursor) => Promise<unknown>): Promise<Difference[] | null>
  /**
   * Makes tables the live ones, durably and at once. False, and nothing is changed, where the present ones show more than
   * `atLeast`; null: whatever they show. Rejects with `LOG_OTHER` where protected tables are of another log,
   * unless `takeOver`.
   */
  pointTo(name: string, atLeast: Progress | null, takeOver?: boolean): Promise<boolean>
  /** Removes tables that never were, or are no longer, the live ones. */
  drop(name: string): Promise<void>
  /** Removes all tables but the live ones that are no longer used. */
  dropOthers(): Promise<void>
  /** Reads of one state of the live tables. They wait for no writer; `query` must await nothing but its database. */
  read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>>
  close(): Promise<void>
}
