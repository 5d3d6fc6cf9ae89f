import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema/database.ts'

// SQL about a row `a` of `agents`, and a row `t` of `tool_calls`.

export const PAUSED = '(coalesce(a.paused, 0) = 1 and coalesce(a.stepping, 0) = 0)'

/** Only a turn that is over leaves it to people; what they have said since is read by the next one. */
export const WAITS_FOR_INPUT =
  '(a.asked_at is not null and a.in_turn = 0 and coalesce(a.last_input, -1) <= coalesce(a.last_read, -1))'

export const OPEN_CALL = "t.status in ('planned', 'started', 'running', 'retrying', 'unknown')"

/** What an agent waits for a person for; `model`: it waits for its models, which have all failed, to serve again. */
export interface Waiting {
  readonly agentId: string
  readonly for: 'input' | 'approval' | 'doubt' | 'pause' | 'model'
  readonly toolCallId: string | null
}

/** What the unfinished agents of some runs wait for, by run; one that is being cancelled waits for nothing. */
export async function waitingOf(db: Kysely<Database>, runIds: readonly string[]): Promise<Map<string, Waiting[]>> {
  const found = new Map<string, Waiting[]>()
  if (runIds.length === 0) return found
  const add = (run: string, agentId: string, why: Waiting['for'], toolCallId: string | null) => {
    const all = found.get(run) ?? []
    all.push({ agentId, for: why, toolCallId })
    found.set(run, all)
  }
  const agents = await db
    .selectFrom('agents as a')
    .select(['a.id', 'a.run_id'])
    .select(sql.raw<number>(`case when ${WAITS_FOR_INPUT} then 1 else 0 end`).as('input'))
    .select(sql.raw<number>(`case when ${PAUSED} then 1 else 0 end`).as('pause'))
    .where('a.run_id', 'in', runIds)
    .where('a.completed_at', 'is', null)
    .where('a.cancel_requested_at', 'is', null)
    .execute()
  for (const a of agents) {
    if (a.input === 1) add(a.run_id, a.id, 'input', null)
    if (a.pause === 1) add(a.run_id, a.id, 'pause', null)
  }
  const approvals = await db
    .selectFrom('approvals as p')
    .innerJoin('agents as a', 'a.id', 'p.agent_id')
    .select(['p.run_id', 'p.agent_id', 'p.tool_call_id'])
    .where('p.run_id', 'in', runIds)
    .where('p.status', '=', 'pending')
    .where('p.call_ended_at', 'is', null)
    .where('a.completed_at', 'is', null)
    .where('a.cancel_requested_at', 'is', null)
    .execute()
  for (const p of approvals) add(p.run_id, p.agent_id, 'approval', p.tool_call_id)
  const open = agents.map((a) => a.id)
  if (open.length === 0) return found
  const outages = await db
    .selectFrom('due')
    .select(['run_id', 'agent_id'])
    .where('agent_id', 'in', open)
    .where('reason', '=', 'model')
    .execute()
  for (const d of outages) add(d.run_id, d.agent_id, 'model', null)
  const doubts = await db
    .selectFrom('tool_calls')
    .select(['run_id', 'agent_id', 'id'])
    .where('agent_id', 'in', open)
    .where(sql<boolean>`status = 'unknown'`)
    .execute()
  for (const t of doubts) add(t.run_id, t.agent_id, 'doubt', t.id)
  return found
}
