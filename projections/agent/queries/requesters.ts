import type { Kysely } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'

/** The most forks between a run and the first run of its chain. */
const MAX_FORKS = 1_000

/**
 * Whoever asked for a run, gave it input, sent its agents a message, or did so for a run of which it is a fork. Actors
 * as texts, such as `user:ann`.
 */
export async function requestersOf(db: Kysely<Database>, runId: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  let next: string | null = runId
  for (let forks = 0; next !== null && forks < MAX_FORKS; forks++) {
    const id: string = next
    const run = await db
      .selectFrom('runs')
      .select(['created_by', 'forked_from'])
      .where('id', '=', id)
      .executeTakeFirst()
    const inputs = await db.selectFrom('inputs').select('by').distinct().where('run_id', '=', id).execute()
    const messages = await db
      .selectFrom('messages')
      .select('sender')
      .distinct()
      .where('run_id', '=', id)
      .where('sender', 'like', 'user:%')
      .execute()
    for (const by of [run?.created_by ?? null, ...inputs.map((one) => one.by), ...messages.map((one) => one.sender)])
      if (by !== null) found.add(by)
    next = run?.forked_from ?? null
  }
  return found
}
