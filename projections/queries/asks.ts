import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema/database.ts'
import { WAITS_FOR_INPUT } from './waiting.ts'

/** A call whose outcome nobody knows, or the question that an agent waits for an answer to. Its arguments are in the log. */
export interface OpenCall {
  readonly run_id: string
  readonly agent_id: string
  /** Null: the agent waits to be told its task. */
  readonly id: string | null
  readonly tool_name: string | null
  readonly message: string | null
  readonly requested_revision: number | null
  readonly block: number | null
}

const CALL = ['t.id', 't.tool_name', 't.message', 't.requested_revision', 't.block'] as const

/** Calls of unfinished agents, of all runs or of one, whose outcome is in doubt. */
export function listDoubts(db: Kysely<Database>, runId?: string): Promise<OpenCall[]> {
  let query = db
    .selectFrom('tool_calls as t')
    .innerJoin('agents as a', 'a.id', 't.agent_id')
    .select(['t.run_id', 't.agent_id', ...CALL])
    // As text, so that the partial index is used.
    .where(sql<boolean>`t.status = 'unknown'`)
    .where('a.completed_at', 'is', null)
    .orderBy('t.agent_id')
    .orderBy('t.id')
  if (runId !== undefined) query = query.where('t.agent_id', 'in', agentsOf(db, runId))
  return query.execute()
}

/** What unfinished agents, of all runs or of one, asked and have no answer to yet. */
export function listQuestions(db: Kysely<Database>, runId?: string): Promise<OpenCall[]> {
  let query = db
    .selectFrom('agents as a')
    .leftJoin('tool_calls as t', (join) =>
      join.onRef('t.agent_id', '=', 'a.id').onRef('t.ended_revision', '=', 'a.asked_at'),
    )
    .select(['a.run_id', 'a.id as agent_id', ...CALL])
    .where('a.completed_at', 'is', null)
    .where('a.cancel_requested_at', 'is', null)
    .where(sql.raw<boolean>(WAITS_FOR_INPUT))
    .orderBy('a.id')
  if (runId !== undefined) query = query.where('a.run_id', '=', runId)
  return query.execute()
}

const agentsOf = (db: Kysely<Database>, runId: string) =>
  db.selectFrom('agents').select('id').where('run_id', '=', runId)
