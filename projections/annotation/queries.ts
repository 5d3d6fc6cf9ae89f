import type { Kysely } from 'kysely'
import type { Database } from '../engine/schema/database.ts'
import type { Row } from '../engine/schema/tables.ts'

/** The tags of each run, in alphabetical order. Runs without tags are absent. */
export async function tagsOf(
  db: Kysely<Database>,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db.selectFrom('run_tags').select(['run_id', 'tag']).where('run_id', 'in', runIds).execute()
  const tags = new Map<string, string[]>()
  for (const { run_id, tag } of rows) tags.set(run_id, [...(tags.get(run_id) ?? []), tag])
  for (const some of tags.values()) some.sort()
  return tags
}

/** The notes of a run, oldest first. */
export const notesOf = (db: Kysely<Database>, runId: string): Promise<Row<'run_notes'>[]> =>
  db.selectFrom('run_notes').selectAll().where('run_id', '=', runId).orderBy('revision').execute()

/** The tags that runs have, the most frequent first. */
export async function listTags(
  db: Kysely<Database>,
  limit: number,
): Promise<readonly { readonly tag: string; readonly runs: number }[]> {
  const rows = await db
    .selectFrom('run_tags')
    .select((of) => ['tag', of.fn.countAll().as('runs')])
    .groupBy('tag')
    .orderBy('runs', 'desc')
    .orderBy('tag')
    .limit(limit)
    .execute()
  return rows.map(({ tag, runs }) => ({ tag, runs: Number(runs) }))
}
