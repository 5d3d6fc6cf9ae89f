import type { Kysely } from 'kysely'
import type { CallDecisionRow, Database } from '../../engine/schema/database.ts'
import { type Support, withSupports } from './supports.ts'

/** `supports`: the approvals before the last one, if several people must approve. */
export type CallDecisionWithSupports = CallDecisionRow & { readonly supports: readonly Support[] }

interface Which {
  readonly runId: string
  readonly toolCallId?: string | undefined
  readonly after?: number | undefined
  readonly limit: number
}

/** How the calls of a run were decided, in log order: at most `limit` after the position `after`. */
export async function selectDecisions(
  db: Kysely<Database>,
  { runId, toolCallId, after, limit }: Which,
): Promise<CallDecisionWithSupports[]> {
  let query = db.selectFrom('call_decisions').selectAll().where('run_id', '=', runId).orderBy('position').limit(limit)
  if (toolCallId !== undefined) query = query.where('call_id', '=', toolCallId)
  const rows = await (after === undefined ? query : query.where('position', '>', after)).execute()
  return withSupports(db, rows, (row) => ({
    ...{
      agentId: row.agent_id,
      callId: row.call_id,
      needed: row.needed,
      askedAt: row.asked_at,
      decidedBy: row.principal,
    },
  }))
}
