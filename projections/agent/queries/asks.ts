import type { Kysely } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'
import { reached } from './still-matters.ts'

/** A call with unknown outcome, or a question that an agent has asked. The arguments are in the log. */
export interface OpenCall {
  readonly run_id: string
  readonly agent_id: string
  /** Null: the agent waits for its task. */
  readonly id: string | null
  readonly tool_name: string | null
  readonly message: string | null
  readonly requested_revision: number | null
  readonly block: number | null
}

const COLUMNS = [
  'w.run_id',
  'w.agent_id',
  't.id',
  't.tool_name',
  't.message',
  't.requested_revision',
  't.block',
] as const

/** Calls, of all runs or of one, that wait for a person's decision on their unknown outcome. */
export function listDoubts(db: Kysely<Database>, runId?: string): Promise<OpenCall[]> {
  return db
    .selectFrom('waiting as w')
    .innerJoin('tool_calls as t', (join) =>
      join.onRef('t.agent_id', '=', 'w.agent_id').onRef('t.id', '=', 'w.tool_call_id'),
    )
    .select(COLUMNS)
    .where('w.reason', '=', 'doubt')
    .where(reached('w.agent_id'))
    .$if(runId !== undefined, (query) => query.where('w.run_id', '=', runId!))
    .orderBy('w.agent_id')
    .orderBy('t.id')
    .execute()
}

/** Questions, of all runs or of one, that wait for a person's answer. */
export function listQuestions(db: Kysely<Database>, runId?: string): Promise<OpenCall[]> {
  return db
    .selectFrom('waiting as w')
    .innerJoin('agents as a', 'a.id', 'w.agent_id')
    .leftJoin('tool_calls as t', (join) =>
      join.onRef('t.agent_id', '=', 'a.id').onRef('t.ended_revision', '=', 'a.question_revision'),
    )
    .select(COLUMNS)
    .where('w.reason', '=', 'input')
    .where(reached('w.agent_id'))
    .$if(runId !== undefined, (query) => query.where('w.run_id', '=', runId!))
    .orderBy('w.agent_id')
    .execute()
}
