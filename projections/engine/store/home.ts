import type { Kysely } from 'kysely'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { Database } from '../schema/database.ts'
import type { Progress, Store } from './store.ts'

/** An answer, and the log position of the tables that gave it; null: no event was folded yet. */
export interface Answer<T> {
  readonly position: Cursor | null
  readonly data: T
}

/** The rows of one table that differ between two sets of tables. */
export interface TableDifference {
  readonly table: string
  readonly onlyLive: number
  readonly onlyRebuilt: number
  /** Up to three rows of each side. */
  readonly examples: { readonly live: readonly object[]; readonly rebuilt: readonly object[] }
}

/** Named sets of tables. One of them is live, and every request looks it up. */
export interface Home {
  /** The live tables; null: there are none. */
  live(): Promise<string | null>
  /** The log of protected tables, which the tables of another log may not replace; null: not protected, or unknown. */
  logId(): Promise<string | null>
  /** Opens tables for writing, and migrates them if needed. Rejects with `SCHEMA_NEWER` or `SCHEMA_OTHER`. */
  open(name: string): Promise<Store>
  /** Creates new, empty tables. */
  fresh(): Promise<{ readonly name: string; readonly store: Store }>
  /**
   * Compares the live tables, in their state at the call, with others that `catchUp` brings to the same position.
   * Readers and writers of the live tables continue. Null: the two cannot be compared.
   */
  compare(live: string, rebuilt: string, catchUp: (to: Cursor) => Promise<unknown>): Promise<TableDifference[] | null>
  /**
   * Makes tables live, durably and atomically. Returns false without a change when the present tables show more than
   * `atLeast`; null: no check. Rejects with `LOG_OTHER` when protected tables belong to another log, unless `takeOver`.
   */
  pointTo(name: string, atLeast: Progress | null, takeOver?: boolean): Promise<boolean>
  /** Removes tables that are not live. */
  drop(name: string): Promise<void>
  /** Removes all unused tables except the live ones. */
  dropOthers(): Promise<void>
  /** Reads one state of the live tables without waiting for a writer. `query` must await nothing but its database. */
  read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>>
  /**
   * Like {@link read}, on a connection of its own, so that `query` may await anything. Absent: {@link read} has one
   * anyway.
   */
  readApart?<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>>
  close(): Promise<void>
}
