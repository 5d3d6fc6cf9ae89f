import { type Kysely, sql } from 'kysely'
import type { WakeReason } from '../changes/stream.ts'
import type { Database } from '../schema/database.ts'

/** An agent that needs its driver. `wakeAt`: ms since the epoch. */
export interface Due {
  readonly agentId: string
  /** A driver takes a run as a whole. */
  readonly runId: string
  readonly wakeAt: number
  /** `cancel`: the agent only has to end. */
  readonly reason: WakeReason | 'cancel'
}

export interface DueFilter {
  /** Only runs whose start asked for any available driver. */
  readonly driveRequested?: boolean
}

/**
 * Rows of agents that a driver may take. A run without a request for a driver is left out. A finished agent needs its
 * driver only to tell other agents. An external agent belongs to the run of the keepup agent that delegated to it; any
 * other external run needs no driver.
 */
function drivable(db: Kysely<Database>, { driveRequested = false }: DueFilter) {
  return (
    db
      .selectFrom('due as d')
      // A left join: a stream that is parked at its first event has a row here but no agent.
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

/** A column of the agent itself, or of the run's root agent for an external agent. */
const ofDriven = (column: 'undriven' | 'drive_requested') =>
  sql`case when a.ungoverned = 1 then ${sql.ref(`r.${column}`)} else ${sql.ref(`a.${column}`)} end`

const REASON = sql<Due['reason']>`case when d.reason = 'owed' and a.cancel_requested_at is not null then 'cancel'
  else d.reason end`

/**
 * Agents that need their driver at once, and those whose wake time is `at` (ms) or earlier; `at` null: all. Earliest
 * first. Catch up to the log's head before: rows may be stale, but none is missing.
 */
export function dueBefore(db: Kysely<Database>, at: number | null, which: DueFilter = {}): Promise<Due[]> {
  return drivable(db, which)
    .select([AGENT.as('agentId'), 'd.run_id as runId', 'd.wake_at as wakeAt', REASON.as('reason')])
    .$if(at !== null, (query) => query.where((is) => is.or([is('d.wake_at', '<=', at!), is('d.at_once', '=', 1)])))
    .orderBy('d.wake_at')
    .orderBy('d.stream')
    .execute()
}

/** The wake time of the next agent that waits for a time after `at` (ms); null: none. */
export async function nextDue(db: Kysely<Database>, at: number, which: DueFilter = {}): Promise<number | null> {
  const row = await drivable(db, which)
    .where('d.wake_at', '>', at)
    .where('d.at_once', '=', 0)
    .select(sql<number | null>`min(d.wake_at)`.as('next'))
    .executeTakeFirst()
  return row?.next ?? null
}
