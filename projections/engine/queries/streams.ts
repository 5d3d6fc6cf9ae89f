import type { Kysely } from 'kysely'
import type { Database } from '../schema/database.ts'

/** A stream of the log according to the tables. `revision`: its last event. */
export interface StreamSeen {
  readonly stream: string
  readonly runId: string
  readonly revision: number
}

/** Streams with a name prefix, in order of names, after the name `after`. */
export async function selectStreams(
  db: Kysely<Database>,
  { after, limit, prefix = '' }: { readonly after?: string; readonly limit: number; readonly prefix?: string },
): Promise<readonly StreamSeen[]> {
  let query = db
    .selectFrom('streams')
    .select(['stream', 'run_id as runId', 'revision'])
    .orderBy('stream')
    .limit(limit)
    .where('stream', '>=', prefix)
    // The upper bound of names with this prefix. Names are ASCII.
    .where('stream', '<', `${prefix}\u{7f}`)
  if (after !== undefined) query = query.where('stream', '>', after)
  return query.execute()
}
