import { type Kysely, sql, type Transaction } from 'kysely'
import { LogError } from '../../../domain/log/errors.ts'

// Positions of consumers in a database of the program, SQLite or PostgreSQL. A position is stored in the transaction of
// the rows that it belongs to.

/** Creates the table of the positions if it is missing. */
export async function createPositions<DB>(db: Kysely<DB>): Promise<void> {
  await sql`create table if not exists keepup_positions (name text primary key, position text not null)`.execute(db)
}

/** The position of a consumer. Null: none is stored. */
export async function readPosition<DB>(db: Kysely<DB>, name: string): Promise<string | null> {
  const found = await sql<{ position: string }>`select position from keepup_positions where name = ${name}`.execute(db)
  return found.rows[0]?.position ?? null
}

/** Moves a position. Rejects with `CONFLICT` if it is not `from`: another process has stored these events already. */
export async function movePosition<DB>(
  tx: Transaction<DB>,
  name: string,
  { from, to }: { readonly from: string | null; readonly to: string },
): Promise<void> {
  const done =
    from === null
      ? sql`insert into keepup_positions (name, position) values (${name}, ${to}) on conflict (name) do nothing`
      : sql`update keepup_positions set position = ${to} where name = ${name} and position = ${from}`
  if ((await done.execute(tx)).numAffectedRows === 1n) return
  throw new LogError('CONFLICT', `another process has moved the position of ${name}; run one process, or start again`)
}

/**
 * Forgets the position of a consumer. In one transaction with the removal of its rows, the next `consume` rebuilds them from the consumer's start.
 */
export async function forgetPosition<DB>(tx: Transaction<DB>, name: string): Promise<void> {
  await sql`delete from keepup_positions where name = ${name}`.execute(tx)
}
