import { type Kysely, sql } from 'kysely'
import type { DueReason } from '../changes/due.ts'
import type { Database } from '../schema/database.ts'

/** An agent to wake. `wakeAt` in ms: the earliest of its causes. */
export interface Due {
  readonly agentId: string
  readonly runId: string
  readonly wakeAt: number
  readonly reason: DueReason
}

/**
 * Unfinished agents that are to be woken at or before `at` (ms; null: at any time), earliest first. Catch the tables up to
 * the head before: a row may be stale, none may be missing. A run that nobody has asked to be driven, and no driver has
 * claimed, is left alone; with `asked` one too that was not started to be driven by whoever there is. An agent that waits for input owes no new turn, and a paused one starts nothing; what they have
 * in flight counts.
 */
export async function dueBefore(db: Kysely<Database>, at: number | null, { asked = false } = {}): Promise<Due[]> {
  let query = db
    .selectFrom('due as d')
    // Left: where the birth itself could not be read there is a row here and no agent.
    .leftJoin('agents as a', 'a.id', 'd.agent_id')
    .where('a.completed_at', 'is', null)
    .where(sql<boolean>`coalesce(a.held, 0) = 0`)
    .where(
      sql<boolean>`not (d.reason in ('start', 'turn', 'retry') and coalesce(a.paused, 0) = 1 and coalesce(a.stepping, 0) = 0)`,
    )
    .where(
      sql<boolean>`not (d.reason = 'turn' and a.asked_at is not null
        and coalesce(a.last_input, -1) <= coalesce(a.last_read, -1))`,
    )
    .select(['d.agent_id', 'd.run_id', 'd.wake_at', 'd.reason'])
    .orderBy('d.wake_at')
    .orderBy('d.agent_id')
    .orderBy('d.cause')
  if (asked) query = query.where(sql<boolean>`coalesce(a.asked, 0) = 1`)
  if (at !== null) query = query.where('d.wake_at', '<=', at)
  const agents = new Map<string, Due>()
  for (const row of await query.execute()) {
    if (agents.has(row.agent_id)) continue
    const reason = row.reason as DueReason
    agents.set(row.agent_id, { agentId: row.agent_id, runId: row.run_id, wakeAt: row.wake_at, reason })
  }
  return [...agents.values()]
}

/** When the next agent is due that is not due at `at` (ms); null: none. */
export async function nextDue(db: Kysely<Database>, at: number): Promise<number | null> {
  const row = await db
    .selectFrom('due as d')
    .leftJoin('agents as a', 'a.id', 'd.agent_id')
    .where('a.completed_at', 'is', null)
    .where(sql<boolean>`coalesce(a.held, 0) = 0`)
    .where('d.wake_at', '>', at)
    .select(sql<number | null>`min(d.wake_at)`.as('next'))
    .executeTakeFirst()
  return row?.next ?? null
}
