import { type Kysely, sql } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'
import { historySql } from '../../engine/schema/history-sql.ts'

/** A child that ended before the fork, as recorded by the source. It belongs to the source's run. */
export interface RecordedChild {
  readonly agentId: string
  /** The agent whose stream recorded the child. */
  readonly parentId: string
  readonly runId: string
  readonly role: string | null
  readonly status: string
  readonly code: string | null
}

/** The ended children that a fork inherits, in order of birth. No driver runs them again. */
export async function recordedChildren(db: Kysely<Database>, runId: string): Promise<RecordedChild[]> {
  const { rows } = await sql<RecordedChild>`select n.child_id as "agentId", n.agent_id as "parentId",
      n.run_id as "runId", n.role, n.status, n.code
    from agents a join (select * from children) as n on n.ended_revision is not null
    where a.id = ${runId} and a.forked_from is not null and exists (${sql.raw(historySql('a.id', '0'))}
      select 1 from h where h.d > 0 and h.id = n.agent_id and n.ended_revision <= h.upto)
    order by n.delegated_at, n.child_id`.execute(db)
  return rows
}
