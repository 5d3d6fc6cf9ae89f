import type { Kysely } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'

/** A restore of files without a recorded end: it is running, or its process was lost midway. */
export interface Unended {
  readonly runId: string
  readonly agentId: string
  /** Null: the request named a tree. */
  readonly step: number | null
  readonly tree: string | null
  /** The version with the files as they were before the restore. */
  readonly replaces: string | null
  readonly requestedAt: string
}

/** The last unended restore of each agent, in order of agents. */
export async function listRestoring(db: Kysely<Database>): Promise<Unended[]> {
  const rows = await db
    .selectFrom('restores')
    .select(['run_id', 'agent_id', 'step', 'tree', 'replaces', 'requested_at'])
    .where('outcome', 'is', null)
    .orderBy('agent_id')
    .orderBy('revision')
    .execute()
  const last = new Map(rows.map((row) => [row.agent_id, row]))
  return [...last.values()].map(({ run_id, agent_id, step, tree, replaces, requested_at }) => {
    return { runId: run_id, agentId: agent_id, step, tree, replaces, requestedAt: requested_at }
  })
}
