import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openAuditSource } from '../../../adapters/sqlite/log/audit.ts'
import { isReadOnlyFileSystem } from '../../../adapters/sqlite/open-to-read.ts'
import { mustHoldTables } from '../../../projections/engine/store/damage.ts'
import { liveFile } from '../../../projections/engine/store/pointer.ts'
import { type Database, openAudit, openKeptSource, ProjectionError } from '../../../projections/index.ts'
import { paths } from '../host/paths.ts'

/** A file of tables at a past position of the log. */
export interface PastTablesFile {
  readonly path: string
  readonly position: number
  /** True: the file also has the events, because their log is on servers. */
  readonly keepsEvents: boolean
}

interface OpenSql {
  readonly db: DatabaseSync
  /** Kysely over the same connection. */
  readonly kysely: Kysely<Database>
  close(): void
}

/**
 * A read-only SQL connection to a data folder: the tables, and the log through the seed's four tables. `past`: as they
 * were at a position.
 */
export function openSql(data: string, past?: PastTablesFile): OpenSql {
  const at = paths(data)
  const tables = past?.path ?? liveFile(at.tables)
  if (tables === null) {
    const why = isReadOnlyFileSystem(data)
      ? `${data} has no tables, and its file system is read-only; copy the folder, and ask the copy with --data`
      : 'there are no tables yet; start a run first'
    throw new ProjectionError('NOT_FOUND', why)
  }
  mustHoldTables(tables)
  const blobs = new FileBlobs(at.blobs)
  const source = past?.keepsEvents
    ? openKeptSource(past.path)
    : openAuditSource(at.log, (runId, hash) => blobs.read(runId, hash))
  try {
    const audit = openAudit(tables, source, past?.position)
    const close = () => {
      audit.close()
      source.close()
    }
    return { db: audit.raw, kysely: audit.db, close }
  } catch (error) {
    source.close()
    throw error
  }
}
