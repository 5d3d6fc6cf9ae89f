import type { Kysely } from 'kysely'
import type { Cursor } from '../../domain/log/cursor.ts'
import type { Database } from '../schema/database.ts'
import type { Progress, Store } from './store.ts'

/** An answer and the place in the log that it shows; null: nothing was folded yet. */
export interface Answer<T> {
  readonly position: Cursor | null
  readonly data: T
}

/** What two sets of tables do not have in common, per table; empty: they are equal. */
export interface Difference {
  readonly table: string
  readonly onlyLive: number
  readonly onlyRebuilt: number
  /** Up to three rows of each side. */
  readonly examples: { readonly live: readonly object[]; readonly rebuilt: readonly object[] }
}

/** Sets of tables side by side, each with a name; one of them is the live one, which every request asks anew. */
export interface Home {
  /** The live tables; null: there are none. */
  live(): Promise<string | null>
  /** The log of tables that are not to be replaced by another log's unasked; null: they may be, or nothing says whose they are. */
  logId(): Promise<string | null>
  /** The writing side, migrated where needed. Rejects with `SCHEMA_NEWER` or `SCHEMA_OTHER`. */
  open(name: string): Promise<Store>
  /** New, empty tables. */
  fresh(): Promise<{ readonly name: string; readonly store: Store }>
  /**
   * Compares live tables, as they are at the call, with others, which `catchUp` brings to the same position. Readers and
   * writers of the live ones go on. Null: there is nothing to compare with.
   */
  compare(live: string, rebuilt: string, catchUp: (to: Cursor) => Promise<unknown>): Promise<Difference[] | null>
  /**
   * Makes tables the live ones, durably and at once. False, and nothing is changed, where the present ones show more than
   * `atLeast`; null: whatever they show. Rejects with `LOG_OTHER` where those that are not to be replaced by another log's
   * unasked are of another log, unless `takeOver`.
   */
  pointTo(name: string, atLeast: Progress | null, takeOver?: boolean): Promise<boolean>
  /** Removes tables that never were, or are no longer, the live ones. */
  drop(name: string): Promise<void>
  /** Removes all of those that nobody uses any more. */
  dropOthers(): Promise<void>
  /** Reads of one state of the live tables. They wait for no writer; `query` must await nothing but its database. */
  read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>>
  close(): Promise<void>
}
