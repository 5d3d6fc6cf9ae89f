import type { Kysely } from 'kysely'
import type { Database } from '../schema/database.ts'
import type { Row } from '../schema/tables.ts'

/** Parked streams, of all runs or of one, oldest first. */
export function listParked(db: Kysely<Database>, runId?: string): Promise<Row<'parked'>[]> {
  const query = db.selectFrom('parked').selectAll().orderBy('position')
  return (runId === undefined ? query : query.where('run_id', '=', runId)).execute()
}
