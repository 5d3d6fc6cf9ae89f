import type { Kysely } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'
import { containing } from './texts.ts'

/** Files that calls name or have changed, whose path contains a text: those of the most runs first. */
export async function searchFiles(
  db: Kysely<Database>,
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<readonly { readonly path: string; readonly runs: number }[]> {
  const rows = await db
    .selectFrom('touched_files')
    .select((of) => ['path', of.fn.count('run_id').distinct().as('runs')])
    .where(containing(db, 'path', text))
    .groupBy('path')
    .orderBy('runs', 'desc')
    .orderBy('path')
    .limit(limit)
    .execute()
  return rows.map(({ path, runs }) => ({ path, runs: Number(runs) }))
}
