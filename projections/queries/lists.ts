import type { Kysely } from 'kysely'
import type { ArtifactRow, Database } from '../schema/database.ts'
import type { Row } from '../schema/tables.ts'

/** Streams that stopped at an event this program cannot take, oldest first. */
export const listParked = (db: Kysely<Database>): Promise<Row<'parked'>[]> =>
  db.selectFrom('parked').selectAll().orderBy('position').execute()

/** Artifacts of a run or of an agent, in order of registration; at most `limit` after the id `after`. */
export function listArtifacts(
  db: Kysely<Database>,
  { runId, agentId, after, limit = 100 }: { runId?: string; agentId?: string; after?: string; limit?: number },
): Promise<ArtifactRow[]> {
  let query = db.selectFrom('artifacts').selectAll().orderBy('id').limit(limit)
  if (runId !== undefined) query = query.where('run_id', '=', runId)
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId)
  if (after !== undefined) query = query.where('id', '>', after)
  return query.execute()
}

/** Where the arguments of a call lie, beside an approval: see {@link argumentsOf} in checkpoint.ts. */
export type ApprovalRow = Row<'approvals'> & {
  readonly requested_position: number | null
  readonly call_requested_revision: number | null
  readonly block: number | null
}

/** Approvals: those that still wait (oldest first), all of a run, or that of a call. */
export function listApprovals(
  db: Kysely<Database>,
  { runId, toolCallId, pending = false }: { runId?: string; toolCallId?: string; pending?: boolean },
): Promise<ApprovalRow[]> {
  let query = db
    .selectFrom('approvals as p')
    .leftJoin('tool_calls as t', (join) =>
      join.onRef('t.agent_id', '=', 'p.agent_id').onRef('t.id', '=', 'p.tool_call_id'),
    )
    .selectAll('p')
    .select(['t.requested_position', 't.requested_revision as call_requested_revision', 't.block'])
    .orderBy('p.requested_at')
    .orderBy('p.tool_call_id')
  if (runId !== undefined) query = query.where('p.run_id', '=', runId)
  if (toolCallId !== undefined) query = query.where('p.tool_call_id', '=', toolCallId)
  if (pending) {
    query = query
      .innerJoin('agents as a', 'a.id', 'p.agent_id')
      .where('p.status', '=', 'pending')
      .where('p.call_ended_at', 'is', null)
      .where('a.completed_at', 'is', null) as typeof query
  }
  return query.execute()
}
