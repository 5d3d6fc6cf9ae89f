import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema/database.ts'

/** What an agent waits for a person for. */
export interface Waiting {
  readonly agentId: string
  readonly for: 'input' | 'approval' | 'doubt' | 'pause'
  readonly toolCallId: string | null
}

/** What the unfinished agents of some runs wait for, by run. */
export async function waitingOf(db: Kysely<Database>, runIds: readonly string[]): Promise<Map<string, Waiting[]>> {
  const found = new Map<string, Waiting[]>()
  if (runIds.length === 0) return found
  const add = (run: string, agentId: string, why: Waiting['for'], toolCallId: string | null) => {
    const all = found.get(run) ?? []
    all.push({ agentId, for: why, toolCallId })
    found.set(run, all)
  }
  const agents = await db
    .selectFrom('agents')
    .select(['id', 'run_id', 'paused', 'stepping', 'asked_at', 'last_input', 'last_read'])
    .where('run_id', 'in', runIds)
    .where('completed_at', 'is', null)
    .execute()
  for (const a of agents) {
    if (a.asked_at !== null && (a.last_input ?? -1) <= (a.last_read ?? -1)) add(a.run_id, a.id, 'input', null)
    if (a.paused === 1 && a.stepping === 0) add(a.run_id, a.id, 'pause', null)
  }
  const approvals = await db
    .selectFrom('approvals as p')
    .innerJoin('agents as a', 'a.id', 'p.agent_id')
    .select(['p.run_id', 'p.agent_id', 'p.tool_call_id'])
    .where('p.run_id', 'in', runIds)
    .where('p.status', '=', 'pending')
    .where('p.call_ended_at', 'is', null)
    .where('a.completed_at', 'is', null)
    .execute()
  for (const p of approvals) add(p.run_id, p.agent_id, 'approval', p.tool_call_id)
  const open = agents.map((a) => a.id)
  if (open.length === 0) return found
  const doubts = await db
    .selectFrom('tool_calls')
    .select(['run_id', 'agent_id', 'id'])
    .where('agent_id', 'in', open)
    .where(sql<boolean>`status = 'unknown'`)
    .execute()
  for (const t of doubts) add(t.run_id, t.agent_id, 'doubt', t.id)
  return found
}
