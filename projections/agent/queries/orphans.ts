import type { Kysely } from 'kysely'
import { agentStream } from '../../../domain/log/ids.ts'
import type { Database } from '../../engine/schema/database.ts'

/** An unfinished agent whose parent has no record of its birth, so no process drives it. */
export interface Orphan {
  readonly agentId: string
  readonly runId: string
  readonly parentId: string
}

/** The orphans of all runs, by id. Children of a parked parent are left out, because its rows are incomplete. */
export async function listOrphans(db: Kysely<Database>): Promise<Orphan[]> {
  const found = await db
    .selectFrom('agents as a')
    .leftJoin('children as c', (join) =>
      join.onRef('c.agent_id', '=', 'a.parent_agent_id').onRef('c.child_id', '=', 'a.id'),
    )
    .leftJoin('bounces as b', (join) =>
      join.onRef('b.agent_id', '=', 'c.agent_id').onRef('b.revision', '=', 'c.revision'),
    )
    .select(['a.id as agentId', 'a.run_id as runId', 'a.parent_agent_id as parentId'])
    .where('a.completed_at', 'is', null)
    .where('a.parent_agent_id', 'is not', null)
    .where((eb) => eb.or([eb('c.child_id', 'is', null), eb('b.revision', 'is not', null)]))
    .orderBy('a.id')
    .execute()
  if (found.length === 0) return []
  const parked = new Set((await db.selectFrom('parked').select('stream').execute()).map(({ stream }) => stream))
  return found.flatMap(({ parentId, ...one }) =>
    parentId === null || parked.has(agentStream(parentId)) ? [] : [{ ...one, parentId }],
  )
}
