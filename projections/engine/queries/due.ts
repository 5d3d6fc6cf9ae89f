import { type Kysely, sql } from 'kysely'
import type { WakeReason } from '../changes/stream.ts'
import type { Database } from '../schema/database.ts'

/** An agent to drive. `wakeAt`: ms since the epoch. */
export interface Due {
  readonly agentId: string
  /** A run is driven as a whole. */
  readonly runId: string
  readonly wakeAt: number
  /** `cancel`: the agent owes its end and nothing else. */
  readonly reason: WakeReason | 'cancel'
}

export interface DueFilter {
  /** Only runs whose start asked for any driver there is. */
  readonly driveRequested?: boolean
}

/**
 * Rows of agents that a driver may take: a run that nothing has asked to be driven is left alone. One that has finished owes
 * nothing but what it is to tell other agents. Another agent to which one of keepup's own has delegated is driven with the run of
 * that one; any other run of another agent goes on by itself.
 */
function drivable(db: Kysely<Database>, { driveRequested = false }: DueFilter) {
  return (
    db
      .selectFrom('due as d')
      // Left: a stream that is parked at its first event has a row here and no agent.
      .leftJoin('agents as a', (join) => join.on(sql<boolean>`a.id = ${AGENT}`))
      .leftJoin('agents as r', 'r.id', 'd.run_id')
      .where(({ eb, or, and }) =>
        or([
          eb('d.stream', 'like', 'agent-%'),
          and([eb('d.stream', 'like', 'external-%'), eb('d.reason', '=', 'owed'), eb('r.ungoverned', '=', 0)]),
        ]),
      )
      .where((is) => is.or([is('a.completed_at', 'is', null), is('d.reason', '=', 'owed')]))
      .where(sql<boolean>`coalesce(${ofDriven('undriven')}, 0) = 0`)
      .$if(driveRequested, (query) => query.where(sql<boolean>`coalesce(${ofDriven('drive_requested')}, 0) = 1`))
  )
}

const AGENT = sql<string>`case when d.stream like 'external-%' then substr(d.stream, 10) else substr(d.stream, 7) end`

/** A column of the agent, or of the run's own agent for another one. */
const ofDriven = (column: 'undriven' | 'drive_requested') =>
  sql`case when a.ungoverned = 1 then ${sql.ref(`r.${column}`)} else ${sql.ref(`a.${column}`)} end`

const REASON = sql<Due['reason']>`case when d.reason = 'owed' and a.cancel_requested_at is not null then 'cancel'
  else d.reason end`

/**
 * Agents to drive at or before `at` (ms; null: at any time), earliest first. Catch the tables up to the log's head first: a row
 * may be stale, none is missing.
 */
export function dueBefore(db: Kysely<Database>, at: number | null, which: DueFilter = {}): Promise<Due[]> {
  return drivable(db, which)
    .select([AGENT.as('agentId'), 'd.run_id as runId', 'd.wake_at as wakeAt', REASON.as('reason')])
    .$if(at !== null, (query) => query.where('d.wake_at', '<=', at!))
    .orderBy('d.wake_at')
    .orderBy('d.stream')
    .execute()
}

/** When the next agent is due that is not due at `at` (ms); null: none. */
export async function nextDue(db: Kysely<Database>, at: number, which: DueFilter = {}): Promise<number | null> {
  const row = await drivable(db, which)
    .where('d.wake_at', '>', at)
    .select(sql<number | null>`min(d.wake_at)`.as('next'))
    .executeTakeFirst()
  return row?.next ?? null
}
