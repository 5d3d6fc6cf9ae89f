import type { Kysely } from 'kysely'
import type { Database } from '../../projections/index.ts'
import { ConfigError } from '../process/config/settings.ts'

/** The tables of a data folder, opened by {@link openTables}. */
export interface OpenTables extends Disposable {
  /** Reads the tables and the views, `events` and `checkpoints` too. A statement that writes rejects. */
  readonly db: Kysely<Database>
  close(): void
}

/**
 * Opens the tables of a data folder for queries with Kysely. Another process may own the folder; the connection shows its
 * changes. A rebuild makes new tables, and this connection keeps the old ones: open it again then. Rejects
 * with a ConfigError without a folder, and with a ProjectionError `NOT_FOUND` if the folder has no tables yet, or
 * `DAMAGED`.
 *
 *   using tables = await openTables({ data: './data' })
 *   const runs = await tables.db.selectFrom('runs').select(['id', 'status']).execute()
 *
 * On servers, `Database` is the type of your own connection to PostgreSQL:
 * `new Kysely<Database>({ dialect }).withSchema('keepup')`.
 */
export async function openTables({ data }: { readonly data: string }): Promise<OpenTables> {
  if (!data) throw new ConfigError('data: name a folder')
  // An older Node must reach the check of its version, and it cannot link node:sqlite.
  const { openSql } = await import('../process/embedded/open-sql.ts')
  const { kysely, close } = openSql(data)
  return { db: kysely, close, [Symbol.dispose]: close }
}
