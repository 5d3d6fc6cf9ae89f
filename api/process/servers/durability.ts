import type { Pool } from 'pg'

/**
 * PostgreSQL settings that must be on. Otherwise a crash or power failure may lose acknowledged commits or damage
 * files.
 */
export type Unsafe = 'fsync' | 'full_page_writes' | 'synchronous_commit'

const ASKED = `select name from pg_settings
  where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off' order by name`

/** The settings that are off for this user and database. */
export const unsafeIn = async (pool: Pool): Promise<readonly Unsafe[]> =>
  (await pool.query<{ name: Unsafe }>(ASKED)).rows.map(({ name }) => name)
