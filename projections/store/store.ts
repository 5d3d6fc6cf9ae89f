import type { Kysely } from 'kysely'
import type { Cursor } from '../../domain/log/cursor.ts'
import type { Collapsed } from '../changes/collapse.ts'
import { ProjectionError } from '../errors.ts'
import type { Database, StreamRow } from '../schema/database.ts'
import type { Row } from '../schema/tables.ts'

/** How far the tables have come. `cursor` null: at the beginning of the log. */
export interface Progress {
  readonly logId: string
  readonly cursor: Cursor | null
  /** Events folded so far. */
  readonly events: number
}

/** Where a projector puts its rows. One transaction per batch; SQLite now, PostgreSQL behind the same interface. */
export interface Store {
  readonly db: Kysely<Database>
  /** Null: nothing was ever folded into this store. */
  progress(): Promise<Progress | null>
  stream(name: string): Promise<StreamRow | null>
  parked(agentId: string): Promise<Row<'parked'> | null>
  /** True: the rows were already made without this body. */
  erasureSeen(agentId: string, revision: number): Promise<boolean>
  /**
   * Rows, streams and position in one transaction. Rejects with `POSITION_TAKEN`, having written nothing, where the
   * stored progress is not `from`.
   */
  commit(from: Progress | null, to: Progress, streams: readonly StreamRow[], changes: Collapsed): Promise<void>
  close(): Promise<void>
}

/** Somebody else has moved the tables, to `at`. */
export const positionTaken = (at: Progress | null) =>
  new ProjectionError(
    'POSITION_TAKEN',
    `another writer has moved the tables to position ${at?.cursor?.position ?? 'none'}; only one may write, so this one stops`,
  )
