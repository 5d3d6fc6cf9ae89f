import type { Kysely } from 'kysely'
import type { Database } from '../schema/database.ts'

/** A stream of the log as the tables have seen it: `revision` is that of its last event. */
export interface StreamSeen {
  readonly stream: string
  readonly runId: string
  readonly revision: number
}

/** Streams in order of their names, after one of them; those whose name begins so. */
export async function listStreams(
  db: Kysely<Database>,
  { after, limit, prefix = '' }: { readonly after?: string; readonly limit: number; readonly prefix?: string },
): Promise<readonly StreamSeen[]> {
  let query = db
    .selectFrom('streams')
    .select(['stream', 'run_id as runId', 'revision'])
    .orderBy('stream')
    .limit(limit)
    .where('stream', '>=', prefix)
    // The name that no name with this beginning reaches: names are ASCII.
    .where('stream', '<', `${prefix}\u{7f}`)
  if (after !== undefined) query = query.where('stream', '>', after)
  return query.execute()
}
