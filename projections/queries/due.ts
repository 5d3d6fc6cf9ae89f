import { type Kysely, sql } from 'kysely'
import type { DueReason } from '../changes/due.ts'
import type { Database } from '../schema/database.ts'
import { OPEN_CALL, PAUSED, WAITS_FOR_INPUT } from './waiting.ts'

/** An agent to wake. `wakeAt` in ms: the earliest of its causes; `reason`: that cause's, or `cancel` where it is one of them. */
export interface Due {
  readonly agentId: string
  readonly runId: string
  readonly wakeAt: number
  readonly reason: DueReason
}

/** `asked`: only runs that were started to be driven by whoever there is. */
export interface Asked {
  readonly asked?: boolean
}

/** A version of the files is owed: it is in flight, whatever the agent waits for. */
const UNVERSIONED = `exists (select 1 from tool_calls v join runs r on r.id = v.run_id
  where v.agent_id = a.id and v.turn = a.turn and v.ran = 1 and v.effect <> 'pure' and r.workspace is not null
    and v.step > (select coalesce(max(w.step), 0) from workspace_versions w where w.agent_id = a.id))`

/** The rows of `due` that wake somebody now: what waits for something else is left out. */
const OWED = `case
  when d.cause = 'agent' and exists (select 1 from tool_calls t
    where t.agent_id = a.id and t.turn = a.turn and ${OPEN_CALL}) then ${UNVERSIONED}
  when d.reason not in ('start', 'turn', 'retry', 'model') then true
  when d.cause <> 'agent' then d.reason = 'retry' or (not ${PAUSED}
    and not exists (select 1 from tool_calls t where t.agent_id = a.id and t.turn = a.turn and ${OPEN_CALL}
      and d.behind like '%|' || t.id || '|%')
    and (a.places is null or a.places > (select count(*) from tool_calls u
      where u.agent_id = a.id and u.turn = a.turn and u.status = 'unknown')))
  else not ${PAUSED} and not (d.reason = 'turn' and ${WAITS_FOR_INPUT})
  end`

function owed(db: Kysely<Database>, asked: boolean) {
  return (
    db
      .selectFrom('due as d')
      // Left: where the birth itself could not be read there is a row here and no agent.
      .leftJoin('agents as a', 'a.id', 'd.agent_id')
      .where('a.completed_at', 'is', null)
      .where(sql<boolean>`coalesce(a.held, 0) = 0`)
      .where(sql.raw<boolean>(OWED))
      .$if(asked, (query) => query.where(sql<boolean>`coalesce(a.asked, 0) = 1`))
  )
}

/**
 * Unfinished agents that are to be woken at or before `at` (ms; null: at any time), earliest first. Catch the tables up to
 * the head before: a row may be stale, none may be missing. A run that nobody has asked to be driven, and no driver has
 * claimed, is left alone. An agent that waits for people owes nothing new, and a paused one starts nothing; what they have
 * in flight counts. While calls are open each speaks for itself, and one that stands behind another does not.
 */
export async function dueBefore(
  db: Kysely<Database>,
  at: number | null,
  { asked = false }: Asked = {},
): Promise<Due[]> {
  const rows = await owed(db, asked)
    .select(['d.agent_id', 'd.run_id', 'd.wake_at', 'd.reason'])
    .$if(at !== null, (query) => query.where('d.wake_at', '<=', at!))
    .orderBy('d.wake_at')
    .orderBy('d.agent_id')
    .orderBy('d.cause')
    .execute()
  const agents = new Map<string, Due>()
  for (const row of rows) {
    const reason = row.reason as DueReason
    const first = agents.get(row.agent_id)
    // Who is to end does nothing else any more, whatever was owed before.
    if (first !== undefined && reason === 'cancel') agents.set(row.agent_id, { ...first, reason })
    if (first !== undefined) continue
    agents.set(row.agent_id, { agentId: row.agent_id, runId: row.run_id, wakeAt: row.wake_at, reason })
  }
  return [...agents.values()]
}

/** When the next agent is due that is not due at `at` (ms); null: none. */
export async function nextDue(db: Kysely<Database>, at: number, { asked = false }: Asked = {}): Promise<number | null> {
  const row = await owed(db, asked)
    .where('d.wake_at', '>', at)
    .select(sql<number | null>`min(d.wake_at)`.as('next'))
    .executeTakeFirst()
  return row?.next ?? null
}
