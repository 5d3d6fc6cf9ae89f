import type { Pool } from 'pg'

/** Settings of a PostgreSQL under which a crash or a power cut may lose what it has acknowledged, or damage its files. */
export type Unsafe = 'fsync' | 'full_page_writes' | 'synchronous_commit'

const ASKED = `select name from pg_settings
  where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off' order by name`

/** Those that are off, as they are for this user and database. */
export const unsafeIn = async (pool: Pool): Promise<readonly Unsafe[]> =>
  (await pool.query<{ name: Unsafe }>(ASKED)).rows.map(({ name }) => name)
