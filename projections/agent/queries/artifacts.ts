import type { Kysely } from 'kysely'
import type { ArtifactColumns, Database } from '../../engine/schema/database.ts'

/** Artifacts of a run or an agent, in order of last registration: at most `limit` after the position `after`. */
export function listArtifacts(
  db: Kysely<Database>,
  { runId, agentId, after, limit = 100 }: { runId?: string; agentId?: string; after?: number; limit?: number },
): Promise<ArtifactColumns[]> {
  let query = db.selectFrom('artifacts').selectAll().orderBy('position').limit(limit)
  if (runId !== undefined) query = query.where('run_id', '=', runId)
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId)
  if (after !== undefined) query = query.where('position', '>', after)
  return query.execute()
}
