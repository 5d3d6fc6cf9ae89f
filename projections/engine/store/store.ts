import type { Cursor } from '../../../domain/log/cursor.ts'
import type { Collapsed } from '../changes/collapse.ts'
import { ProjectionError } from '../errors.ts'
import type { EventRow, PositionRow, StreamRow } from '../schema/database.ts'

/** The progress of the tables. `cursor` null: at the beginning of the log. */
export interface Progress {
  readonly logId: string
  readonly cursor: Cursor | null
  readonly events: number
}

/** The states of some streams before a batch. */
export interface StreamStates {
  /** The last projected event of each stream that has one. */
  readonly heads: ReadonlyMap<string, StreamRow>
  readonly parked: ReadonlySet<string>
}

/** The content of one transaction, which also moves the position. */
export interface Batch {
  readonly streams: readonly StreamRow[]
  readonly changes: Collapsed
  /** Rows of `event_rows`, each stream and revision once; none when the database does not keep events. */
  readonly events: readonly EventRow[]
  /** Kept events that lose their payload, because an `erased` event names them. Applied after `events`. */
  readonly erased: readonly { readonly stream: string; readonly revision: number }[]
  /** The residues of erased kept events. Applied after `erased`. */
  readonly residues: readonly { readonly stream: string; readonly revision: number; readonly current: string }[]
}

/** The tables that a projector writes, one transaction per batch. */
export interface Store {
  /** Whether the table `event_rows` contains the events, because SQL cannot read the log. */
  readonly keepsEvents: boolean
  /** Null: no event was folded into this store. */
  progress(): Promise<Progress | null>
  statesOf(streams: readonly string[]): Promise<StreamStates>
  /** True: the rows were already made without this body. */
  erasureSeen(stream: string, revision: number): Promise<boolean>
  /**
   * Writes a batch and moves the position in one transaction. Rejects with `POSITION_TAKEN` when the stored progress is
   * not `from`, and with `ROWS_REFUSED` when the database refuses the content of the rows. A rejected batch writes
   * nothing.
   */
  commit(from: Progress | null, to: Progress, batch: Batch): Promise<void>
  close(): Promise<void>
}

/** Converts a row of `position` to progress. */
export function progressOf(row: PositionRow): Progress {
  const { log_id: logId, position, prepare, hash, events } = row
  if (position < 0) return { logId, cursor: null, events }
  return { logId, cursor: { logId, position, ...(prepare === null ? {} : { prepare }), hash }, events }
}

/** Converts progress to its row of `position`. */
export const rowOf = ({ logId, cursor, events }: Progress): Omit<PositionRow, 'id'> => ({
  log_id: logId,
  position: cursor?.position ?? -1,
  prepare: cursor?.prepare ?? null,
  hash: cursor?.hash ?? '',
  events,
})

/** The error when another writer has moved the tables to `at`. */
export const positionTaken = (at: Progress | null) =>
  new ProjectionError(
    'POSITION_TAKEN',
    `another writer has moved the tables to position ${at?.cursor?.position ?? 'none'}; only one may write, so this one stops`,
  )

/** The error when a database refuses the content of rows. `database`: its name. */
export const rowsRefused = (database: string, cause: unknown) =>
  new ProjectionError(
    'ROWS_REFUSED',
    `${database} refuses rows of this event: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  )
