import type { Kysely } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'

/** A restore of files whose end is not recorded: it is at work, or its process was lost and files may be half put back. */
export interface Unended {
  readonly runId: string
  readonly agentId: string
  /** Null: a tree was named. */
  readonly step: number | null
  readonly tree: string | null
  /** The version that holds the files as they were before. */
  readonly replaces: string | null
  readonly requestedAt: string
}

/** The restores that have not ended, of each agent the last one, by the agent. */
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
