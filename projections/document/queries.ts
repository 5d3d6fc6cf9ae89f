import type { Kysely } from 'kysely'
import type { Database } from '../engine/schema/database.ts'
import type { Row } from '../engine/schema/tables.ts'

/** Documents in order of creation: at most `limit` after the position `after`. */
export function selectDocuments(
  db: Kysely<Database>,
  { after, limit = 100 }: { after?: number; limit?: number },
): Promise<Row<'documents'>[]> {
  const query = db.selectFrom('documents').selectAll().orderBy('started').limit(limit)
  return (after === undefined ? query : query.where('started', '>', after)).execute()
}
