import type { Kysely } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'
import type { Row } from '../../engine/schema/tables.ts'
import { reached } from './still-matters.ts'
import { type Support, withSupports } from './supports.ts'

/** An approval, and the place of its call's arguments (see `argumentsOf` in arguments.ts). */
export type ApprovalWithArguments = Row<'approvals'> & {
  readonly call_requested_revision: number | null
  readonly block: number | null
  /** How many people must approve; null: one. */
  readonly needed: number | null
  readonly supports: readonly Support[]
}

/**
 * Approvals in order of request, of a run, of a call or in a state: at most `limit` after the position `after`.
 * `pending`: only approvals that a call still waits for.
 */
export async function listApprovals(
  db: Kysely<Database>,
  which: { runId?: string; toolCallId?: string; state?: string; after?: number; limit?: number },
): Promise<ApprovalWithArguments[]> {
  const { runId, toolCallId, state, after, limit } = which
  let query = db
    .selectFrom('approvals as p')
    .leftJoin('tool_calls as t', (join) =>
      join.onRef('t.agent_id', '=', 'p.agent_id').onRef('t.id', '=', 'p.tool_call_id'),
    )
    .leftJoin('decision_rows as d', (join) =>
      join.onRef('d.agent_id', '=', 'p.agent_id').onRef('d.tool_call_id', '=', 'p.tool_call_id'),
    )
    .selectAll('p')
    .select(['t.requested_revision as call_requested_revision', 't.block', 'd.needed'])
    .orderBy('p.requested_position')
  if (runId !== undefined) query = query.where('p.run_id', '=', runId)
  if (toolCallId !== undefined) query = query.where('p.tool_call_id', '=', toolCallId)
  if (after !== undefined) query = query.where('p.requested_position', '>', after)
  if (limit !== undefined) query = query.limit(limit)
  if (state === 'pending') {
    query = query
      .innerJoin('agents as a', 'a.id', 'p.agent_id')
      .where('p.call_ended_at', 'is', null)
      .where('a.completed_at', 'is', null)
      .where(reached('p.agent_id')) as typeof query
  }
  if (state !== undefined) query = query.where('p.status', '=', state)
  return withSupports(db, await query.execute(), (row) => ({
    ...{
      agentId: row.agent_id,
      callId: row.tool_call_id,
      needed: row.needed,
      askedAt: row.requested_at,
      decidedBy: row.decided_by,
    },
  }))
}
