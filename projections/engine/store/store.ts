import type { Cursor } from '../../../domain/log/cursor.ts'
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

/** The states of some streams before a batch. */
export interface StreamStates {
  /** The last event projected of each stream that has one. */
  readonly heads: ReadonlyMap<string, StreamRow>
  readonly parked: ReadonlySet<string>
}

/** Everything that one transaction writes, with the position. */
export interface Batch {
  readonly streams: readonly StreamRow[]
  readonly changes: Collapsed
  /** Rows of `event_rows`, each stream and revision once; none where the database does not keep events. */
  readonly events: readonly EventRow[]
  /** Kept events that lose their payload, because an `erased` event names them; after `events`. */
  readonly erased: readonly { readonly stream: string; readonly revision: number }[]
  /** The residues of kept events that were erased; after `erased`. */
  readonly residues: readonly { readonly stream: string; readonly revision: number; readonly current: string }[]
}

/** The tables that a projector writes, one transaction per batch. */
export interface Store {
  /** Whether events are kept in `event_rows`, because SQL cannot read the log. */
  readonly keepsEvents: boolean
  /** Null: no event was folded into this store. */
  progress(): Promise<Progress | null>
  statesOf(streams: readonly string[]): Promise<StreamStates>
  /** True: the rows were already made without this body. */
  erasureSeen(stream: string, revision: number): Promise<boolean>
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

/** Another writer has moved the tables, to `at`. */
export const positionTaken = (at: Progress | null) =>
  new ProjectionError(
    'POSITION_TAKEN',
    `another writer has moved the tables to position ${at?.cursor?.position ?? 'none'}; only one may write, so this one stops`,
  )

/** A database, by its name, refuses the content of rows. */
export const rowsRefused = (database: string, cause: unknown) =>
  new ProjectionError(
    'ROWS_REFUSED',
    `${database} refuses rows of this event: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  )
