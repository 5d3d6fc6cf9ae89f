import type { Cursor } from '../../domain/log/cursor.ts'
import type { Collapsed } from '../changes/collapse.ts'
import { ProjectionError } from '../errors.ts'
import type { EventRow, PositionRow, StreamRow } from '../schema/database.ts'

/** How far the tables have come. `cursor` null: at the beginning of the log. */
export interface Progress {
  readonly logId: string
  readonly cursor: Cursor | null
  /** Events folded so far. */
  readonly events: number
}

/** What the tables hold of some streams before a batch. */
export interface Standing {
  /** The last event taken of each; none: nothing of it was taken. */
  readonly heads: ReadonlyMap<string, StreamRow>
  /** Streams that are parked: ids of agents, names of other streams. */
  readonly parked: ReadonlySet<string>
}

/** Everything that one transaction writes, with the position. */
export interface Batch {
  readonly streams: readonly StreamRow[]
  readonly changes: Collapsed
  /** Rows of `event_rows`, each stream and revision once; none where the database does not keep them. */
  readonly events: readonly EventRow[]
  /** Kept events whose payload goes, because an `erased` fact names them; after `events`. */
  readonly erased: readonly { readonly stream: string; readonly revision: number }[]
  /** What is left of kept events that were erased; after `erased`. */
  readonly left: readonly { readonly stream: string; readonly revision: number; readonly current: string }[]
}

/** Where a projector puts its rows, one transaction per batch. One interface, a database each behind it. */
export interface Store {
  /** Whether events are to be kept in `event_rows`: they are where SQL cannot ask the log. */
  readonly keepsEvents: boolean
  /** Null: nothing was ever folded into this store. */
  progress(): Promise<Progress | null>
  standing(streams: readonly string[]): Promise<Standing>
  /** The run of an agent; null: it has no row. */
  runOf(agentId: string): Promise<string | null>
  /** True: the rows were already made without this body. */
  erasureSeen(agentId: string, revision: number): Promise<boolean>
  /**
   * Writes a batch and moves the position. Rejects with `POSITION_TAKEN`, having written nothing, where the stored progress
   * is not `from`, and with `ROWS_REFUSED` where the database does not take what the rows hold.
   */
  commit(from: Progress | null, to: Progress, batch: Batch): Promise<void>
  close(): Promise<void>
}

/** The stored position as progress. */
export function progressOf(row: PositionRow): Progress {
  const { log_id: logId, position, prepare, hash, events } = row
  if (position < 0) return { logId, cursor: null, events }
  return { logId, cursor: { logId, position, ...(prepare === null ? {} : { prepare }), hash }, events }
}

/** Progress as the row of `position` that stores it. */
export const rowOf = ({ logId, cursor, events }: Progress): Omit<PositionRow, 'id'> => ({
  log_id: logId,
  position: cursor?.position ?? -1,
  prepare: cursor?.prepare ?? null,
  hash: cursor?.hash ?? '',
  events,
})

/** Somebody else has moved the tables, to `at`. */
export const positionTaken = (at: Progress | null) =>
  new ProjectionError(
    'POSITION_TAKEN',
    `another writer has moved the tables to position ${at?.cursor?.position ?? 'none'}; only one may write, so this one stops`,
  )

/** The database, by its name, does not take what rows hold. */
export const rowsRefused = (database: string, cause: unknown) =>
  new ProjectionError(
    'ROWS_REFUSED',
    `${database} does not take what this has to be in the tables: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  )
