import { type Kysely, sql } from 'kysely'
import { tagsOf } from '../../annotation/queries.ts'
import type { Database } from '../../engine/schema/database.ts'
import type { Row } from '../../engine/schema/tables.ts'
import { type MachineStateName, machineStates } from './machine-state.ts'
import { phasesOf } from './phases.ts'
import { filtered, holdsText, type RunFilter, saying } from './run-filter.ts'
import { BYTES_EXAMINED, type FoundText, groupsOfRuns, newestTexts } from './texts.ts'
import { NO_USAGE, type UsageSum, usageBy } from './usage.ts'
import { type WaitingReason, waitingOf } from './waiting.ts'

export interface RunSummary extends Row<'runs'> {
  /** The first input, up to 500 characters; null: none yet. A fork shows its source's. */
  readonly task: string | null
  readonly agents: number
  /** Turns of the root agent. */
  readonly turns: number
  /** Steps and revision of the root agent. */
  readonly step: number
  readonly revision: number
  /** Calls of all the run's agents that have begun or ended. */
  readonly toolCalls: number
  readonly updated_at: string
  readonly usage: UsageSum
  readonly waiting: readonly WaitingReason[]
  /** Phase and state of the root agent. */
  readonly phase: string | null
  readonly machineState: MachineStateName
  readonly paused: boolean
  /** Parked streams that the run's rows depend on: those of its agents, and those that its forks inherit. */
  readonly incomplete: number
  readonly tags: readonly string[]
}

export interface RunsPage {
  readonly runs: readonly RunSummary[]
  /** The last run of the page: the next page follows its `started`. Null: this is the last page. */
  readonly last: Row<'runs'> | null
  /** With a text filter: the newest text of an event of each run that contains it, by run id. */
  readonly matches: ReadonlyMap<string, FoundText>
}

/** The maximum number of runs that a text search examines per page. It bounds the time for rare texts. */
export const LOOKED_THROUGH = 2000
/** The number of runs that one statement of a text search examines. */
const AT_ONCE = 100

/**
 * Runs, newest first. `limit`: 1 to 500, default 50; `after`: `started` of the last run of the previous page. A text
 * search examines at most {@link LOOKED_THROUGH} runs per page, and ends a page after {@link BYTES_EXAMINED} bytes of
 * texts, so a page with few or no runs may have a next page.
 */
export async function selectRuns(
  db: Kysely<Database>,
  { after, limit = 50, text, ...filter }: RunFilter & { after?: number; limit?: number } = {},
): Promise<RunsPage> {
  let query = filtered(db.selectFrom('runs').selectAll(), filter).orderBy('started', 'desc')
  if (after !== undefined) query = query.where('started', '<', after)
  if (text === undefined) {
    const rows = await query.limit(limit + 1).execute()
    const page = rows.slice(0, limit)
    return {
      runs: await summaries(db, page),
      last: rows.length > limit ? (page.at(-1) ?? null) : null,
      matches: new Map(),
    }
  }
  const looked = await query.limit(LOOKED_THROUGH).execute()
  const found: Row<'runs'>[] = []
  const matches = new Map<string, FoundText>()
  let bytes = 0
  let last: Row<'runs'> | null = null
  const isOver = () => found.length > limit || bytes >= BYTES_EXAMINED
  for (let at = 0; at < looked.length && !isOver(); at += AT_ONCE) {
    const some = new Map(looked.slice(at, at + AT_ONCE).map((run) => [run.id, run]))
    const tasks = await tasksOf(db, await originsOf(db, [...some.values()]))
    const said = await saying(db, [...some.keys()], text)
    for (const ids of await groupsOfRuns(db, [...some.keys()])) {
      if (isOver()) break
      const newest = await newestTexts(db, ids, text)
      bytes += newest.bytes
      for (const [id, match] of newest.found) matches.set(id, match)
      const isFound = (id: string) => matches.has(id) || said.has(id) || holdsText(tasks.get(id) ?? '', text)
      found.push(...ids.filter(isFound).map((id) => some.get(id)!))
      last = some.get(ids.at(-1)!)!
    }
  }
  const page = found.slice(0, limit)
  const isWhole = looked.length < LOOKED_THROUGH && last?.id === looked.at(-1)?.id
  const next = found.length > limit ? page.at(-1)! : isWhole ? null : last
  return { runs: await summaries(db, page), last: next, matches }
}

/** Summaries of rows of `runs`, for lists and for the page of a run. */
export async function summaries(db: Kysely<Database>, rows: readonly Row<'runs'>[]): Promise<RunSummary[]> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.id)
  const agents = await db
    .selectFrom('agents')
    .select([
      'run_id',
      sql<number>`count(*)`.as('agents'),
      sql<number>`max(case when id = run_id then turn else 0 end)`.as('turns'),
      sql<number>`max(case when id = run_id then step else 0 end)`.as('step'),
      sql<number>`max(case when id = run_id then revision else 0 end)`.as('revision'),
      sql<string>`max(updated_at)`.as('updated_at'),
    ])
    .where('run_id', 'in', ids)
    .groupBy('run_id')
    .execute()
  const byRun = new Map(agents.map((row) => [row.run_id, row]))
  const callsByRun = new Map<string, number>()
  for (const { run_id, calls } of (await callsByAgent(db, ids)).values()) {
    callsByRun.set(run_id, (callsByRun.get(run_id) ?? 0) + calls)
  }
  const incomplete = await incompleteOf(db, ids)
  const usage = await usageBy(db, 'run_id', ids)
  const waiting = await waitingOf(db, ids)
  const origin = await originsOf(db, rows)
  const tasks = await tasksOf(db, origin)
  const sources = await inheritedOf(db, origin)
  const phases = await phasesOf(db, ids)
  const states = await machineStates(db, ids)
  const tags = await tagsOf(db, ids)
  return rows.map((row) => {
    const found = byRun.get(row.id)
    const { agents = 0, turns = 0, step = 0, revision = 0, updated_at = row.created_at } = found ?? {}
    const task = tasks.get(row.id) ?? null
    const source = sources.get(origin.get(row.id) ?? row.id)
    return {
      ...row,
      role: row.role ?? source?.role ?? null,
      model: row.model ?? source?.model ?? null,
      agents,
      turns,
      step,
      revision,
      toolCalls: callsByRun.get(row.id) ?? 0,
      updated_at,
      incomplete: incomplete.get(row.id) ?? 0,
      task,
      usage: usage.get(row.id) ?? NO_USAGE,
      waiting: waiting.get(row.id) ?? [],
      phase: phases.get(row.id) ?? null,
      machineState: states.get(row.id)?.machineState ?? 'IDLE',
      paused: states.get(row.id)?.paused ?? false,
      tags: tags.get(row.id) ?? [],
    }
  })
}

/** The number of parked streams that each run depends on. A parked event after the inherited part does not count. */
async function incompleteOf(db: Kysely<Database>, runIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const inherits = sql`select run_id as run, forked_from as agent, forked_revision as upto from agents
    where forked_from is not null and run_id in (${sql.join(runIds)})`
  const { rows } = await sql<{ run: string; parked: number }>`with recursive up(run, agent, upto) as (
      select * from (${inherits}) as first
      union
      select up.run, a.forked_from, a.forked_revision from up join agents a on a.id = up.agent
        where a.forked_from is not null)
    select run, count(*) as parked from (
      select run_id as run, stream from parked where run_id in (${sql.join(runIds)})
      union
      select up.run, p.stream from up join parked p on p.stream = 'agent-' || up.agent and p.revision <= up.upto) as found
    group by run`.execute(db)
  return new Map(rows.map(({ run, parked }) => [run, parked]))
}

/** Tool calls of the given runs' agents, by agent. Calls that have not begun do not count. */
export async function callsByAgent(db: Kysely<Database>, runIds: readonly string[]) {
  const rows = await db
    .selectFrom('tool_calls')
    .select([
      'agent_id',
      'run_id',
      sql<number>`sum(case when status in ('planned', 'started', 'waiting') then 0 else 1 end)`.as('calls'),
    ])
    .where('agent_id', 'in', (inner) => inner.selectFrom('agents').select('id').where('run_id', 'in', runIds))
    .groupBy(['agent_id', 'run_id'])
    .execute()
  return new Map(rows.map((row) => [row.agent_id, row]))
}

/** Role and model of the runs that forks began with. A fork's own row has only changed values. */
async function inheritedOf(db: Kysely<Database>, origin: ReadonlyMap<string, string>) {
  const ids = [...new Set(origin.values())]
  const rows = await db.selectFrom('runs').select(['id', 'role', 'model']).where('id', 'in', ids).execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** The first input of each run's or agent's history, up to 500 characters. */
export async function tasksOf(
  db: Kysely<Database>,
  origin: ReadonlyMap<string, string>,
): Promise<Map<string, string | null>> {
  const firsts = await db
    .selectFrom('inputs')
    // A join, because only SQLite returns the bare column of the row with the minimum.
    .innerJoin(
      (inner) =>
        inner
          .selectFrom('inputs')
          .select(['agent_id', sql<number>`min(revision)`.as('first')])
          .where('agent_id', 'in', [...new Set(origin.values())])
          .groupBy('agent_id')
          .as('f'),
      (join) => join.onRef('f.agent_id', '=', 'inputs.agent_id').onRef('f.first', '=', 'inputs.revision'),
    )
    .select(['inputs.agent_id', 'inputs.preview'])
    .execute()
  const previews = new Map(firsts.map((row) => [row.agent_id, row.preview]))
  return new Map([...origin].map(([id, source]) => [id, previews.get(source) ?? null]))
}

/** The run or agent that each row's history began with, through forks of forks. */
export async function originsOf(
  db: Kysely<Database>,
  rows: readonly Pick<Row<'runs'>, 'id' | 'forked_from'>[],
): Promise<Map<string, string>> {
  const origin = new Map(rows.map((row) => [row.id, row.forked_from ?? row.id]))
  let open = [...new Set(rows.flatMap((row) => row.forked_from ?? []))]
  while (open.length > 0) {
    const found = await db.selectFrom('agents').select(['id', 'forked_from']).where('id', 'in', open).execute()
    const further = new Map(found.flatMap((a) => (a.forked_from === null ? [] : [[a.id, a.forked_from] as const])))
    for (const [run, source] of origin) origin.set(run, further.get(source) ?? source)
    open = [...new Set(further.values())]
  }
  return origin
}
