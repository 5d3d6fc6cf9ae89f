import { type Kysely, sql } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'
import { OPEN_CALL, PAUSED } from '../waiting-view.ts'

/** States of the state machine (seed 000, section 6). */
export type MachineStateName = 'IDLE' | 'THINKING' | 'TOOL_WAIT' | 'OBSERVATION' | 'RECOVERY' | 'DONE' | 'ERROR'

export interface AgentStanding {
  readonly machineState: MachineStateName
  readonly paused: boolean
}

const calls = (where: string) =>
  `exists (select 1 from tool_calls t where t.agent_id = a.id and t.turn = a.turn and ${where})`

/** An input arrived before the end of the turn with the question, so the agent continues and does not wait. */
const HEARD = `exists (select 1 from inputs i where i.agent_id = a.id and i.revision > a.last_read
  and i.revision < (select max(c.revision) from checkpoint_rows c where c.agent_id = a.id))`

/** Computes the state of the fold from rows, because no column contains it. */
const STATE = `case
  when a.status = 'completed' then 'DONE'
  when a.status = 'failed' then 'ERROR'
  when a.status = 'recovering' then 'RECOVERY'
  when a.in_turn = 0 then case
    when a.question_revision is not null and not ${HEARD} then 'IDLE'
    when a.turn = 0 and a.forked_from is null then 'IDLE'
    else 'OBSERVATION' end
  when ${calls(OPEN_CALL)} then 'TOOL_WAIT'
  when ${calls('true')} then 'OBSERVATION'
  when exists (select 1 from model_calls m where m.agent_id = a.id and m.turn = a.turn and m.status = 'answered')
    then 'OBSERVATION'
  else 'THINKING' end`

/** The state of each agent of the given runs, by agent. */
export async function machineStates(
  db: Kysely<Database>,
  runIds: readonly string[],
): Promise<Map<string, AgentStanding>> {
  if (runIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('agents as a')
    .select('a.id')
    .select(sql.raw<MachineStateName>(STATE).as('state'))
    .select(sql.raw<number>(`case when ${PAUSED} and a.completed_at is null then 1 else 0 end`).as('paused'))
    .where('a.run_id', 'in', runIds)
    .execute()
  return new Map(rows.map(({ id, state, paused }) => [id, { machineState: state, paused: paused === 1 }]))
}
