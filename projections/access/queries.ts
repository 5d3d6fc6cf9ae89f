import { type Kysely, sql } from 'kysely'
import type { Kept } from '../../domain/access/keeping.ts'
import { OTLP } from '../../domain/external/reported/backend.ts'
import { MAX_ERASED } from '../../domain/stream/erasure.ts'
import type { Database } from '../engine/schema/database.ts'

/** A subject whose texts are old enough to be erased by policy. */
export interface Aged {
  readonly id: string
  /** The stream; that of the root agent for a run, that of the tags and notes for its annotations. */
  readonly stream: string
  /** The time of the end or the last change. */
  readonly since: string
  /** The revision of the last change; null for a run that does not change after its end. */
  readonly revision: number | null
}

/** The place of a page in the order of time and id. */
export type AgedPlace = Pick<Aged, 'since' | 'id'>

interface Source {
  readonly table: string
  readonly id: string
  readonly prefix: string
  /** SQL of the time. */
  readonly since: string
  readonly where?: string
  /** SQL of the revision. */
  readonly revision: string
}

/** Every agent of a run has ended, and so has every run that continues it as a fork. */
const ENDED = `not exists (select 1 from agents a where a.run_id = t.id and a.completed_at is null)
      and not exists (with recursive forks(id, ended_at) as (
        select r.id, r.ended_at from runs r where r.forked_from = t.id
        union all
        select r.id, r.ended_at from forks join runs r on r.forked_from = forks.id)
      select 1 from forks where ended_at is null)`
const RUN = { table: 'runs', id: 'id', since: 't.ended_at', revision: 'null' }
const CHANGED = { since: 't.updated_at', revision: 't.revision' }
/**
 * The times of a reported run are from the clock of its program, its root may never arrive, and spans arrive after its
 * end. So it is as old as its last report.
 */
const IS_REPORTED = `t.backend = '${OTLP}'`
const last = (column: string) => `(select max(a.${column}) from agents a where a.run_id = t.id)`
const REPORTED = {
  since: `case when ${IS_REPORTED} then ${last('updated_at')} else t.ended_at end`,
  revision: `case when ${IS_REPORTED} then ${last('revision')} end`,
}

/** What ages together. The tags and notes of a run age apart from its agents: people still write them after its end. */
export type AgedKind = Kept | 'run annotations' | 'external annotations'

const RUNS: Source = { ...RUN, prefix: 'agent-', where: `t.backend is null and ${ENDED}` }
const EXTERNAL: Source = {
  ...{ ...RUN, ...REPORTED, prefix: 'external-' },
  where: `t.backend is not null and (${IS_REPORTED} or ${ENDED})`,
}

/** The tags and notes of runs are as old as their last change, or as their run if it is younger. */
function annotationsOf({ table, id, since, where }: Source): Source {
  const of = (column: string) => `(select n.${column} from run_annotations n where n.run_id = t.id)`
  return {
    ...{ table, id, prefix: 'annotation-', revision: of('revision') },
    since: `case when ${of('updated_at')} > (${since}) then ${of('updated_at')} else ${since} end`,
    where: `${of('revision')} is not null and ${where}`,
  }
}

const SOURCES: Readonly<Record<AgedKind, Source>> = {
  run: RUNS,
  external: EXTERNAL,
  'run annotations': annotationsOf(RUNS),
  'external annotations': annotationsOf(EXTERNAL),
  document: { ...CHANGED, table: 'documents', id: 'id', prefix: 'document-' },
  memory: { ...CHANGED, table: 'memories', id: 'id', prefix: 'memory-' },
  store: { ...CHANGED, table: 'context_stores', id: 'store', prefix: 'context-' },
}

/**
 * Subjects of a kind that ended or last changed before `before` (ISO 8601), oldest first, after the place `after`.
 * Leaves out those that the actor `by` has erased since. An erasure can break off between two appends, so a stream with
 * only full appends is not left out.
 */
export async function agedSubjects(
  db: Kysely<Database>,
  kind: AgedKind,
  { before, after, by, limit }: { before: string; after: AgedPlace | null; by: string; limit: number },
): Promise<readonly Aged[]> {
  const { table, id, prefix, since, where, revision } = SOURCES[kind]
  const [at, key] = [sql.raw(since), sql.raw(`t.${id}`)]
  const later =
    after === null ? sql`1 = 1` : sql`(${at} > ${after.since} or (${at} = ${after.since} and ${key} > ${after.id}))`
  const { rows } = await sql<{ id: string; since: string; revision: number | string | null }>`
    select ${key} as id, ${at} as since, ${sql.raw(revision)} as revision
    from ${sql.table(table)} t
    where ${at} < ${before} and ${later} and ${sql.raw(where ?? '1 = 1')}
      and (select count(*) from erasures e
        where e.stream = ${sql.lit(prefix)} || ${key} and e.by = ${by} and e.at >= ${at}) % ${sql.lit(MAX_ERASED)} = 0
    order by ${at}, ${key} limit ${limit}`.execute(db)
  return rows.map(({ id, since, revision }) => ({
    ...{ id, since, stream: `${prefix}${id}` },
    revision: revision === null ? null : Number(revision),
  }))
}

/** A person or program that took part in a run, or in a run of which it is a fork. */
export interface Participation {
  readonly by: string
  readonly how: 'asked' | 'forked' | 'input' | 'message'
  readonly run: string
  readonly at: string
}

/** The most forks between a run and the first run of its chain. */
const MAX_FORKS = 1_000

/** Who asked for a run, gave it input or forked it, in order of time. Includes the runs of which it is a fork. */
export async function participationsIn(db: Kysely<Database>, runId: string): Promise<readonly Participation[]> {
  const found: Participation[] = []
  let next: string | null = runId
  for (let forks = 0; next !== null && forks < MAX_FORKS; forks++) {
    const id: string = next
    const run = await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst()
    const inputs = await db.selectFrom('inputs').select(['by', 'at']).where('run_id', '=', id).execute()
    const messages = await db
      .selectFrom('messages')
      .select(['sender as by', 'at'])
      .where('run_id', '=', id)
      .where('sender', 'like', 'user:%')
      .execute()
    next = run?.forked_from ?? null
    const how = next === null ? ('asked' as const) : ('forked' as const)
    if (run?.created_by != null) found.push({ by: run.created_by, how, run: id, at: run.created_at })
    for (const { by, at } of inputs) found.push({ by, at, how: 'input', run: id })
    for (const { by, at } of messages) found.push({ by, at, how: 'message', run: id })
  }
  return found.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

/** The parts of `access_uses` that count together, with the times of the first and last record. */
export interface UseSum {
  readonly principal: string | null
  readonly key: string | null
  readonly operation: string | null
  readonly run: string | null
  readonly reason: string | null
  readonly address: string | null
  readonly count: number
  readonly first: string
  readonly last: string
}

/** Sums of uses of a type, the latest first. `run`: only uses of this run. From `since` on and before `until`, both ISO 8601. */
export async function sumsOfUses(
  db: Kysely<Database>,
  type: 'read_audited' | 'request_refused' | 'login_failed' | 'key_used',
  { run, since, until }: { run?: string; since?: string | undefined; until?: string | undefined },
): Promise<readonly UseSum[]> {
  const parts = ['principal', 'key', 'operation', 'run_id', 'reason', 'address'] as const
  let query = db
    .selectFrom('access_uses')
    .select(({ fn }) => [
      ...parts,
      fn.sum<number | string>('count').as('count'),
      fn.min('recorded_at').as('first'),
      fn.max('recorded_at').as('last'),
    ])
    .where('type', '=', type)
    .groupBy(parts)
    .orderBy('last', 'desc')
    .orderBy('principal')
    .orderBy('operation')
  if (run !== undefined) query = query.where('run_id', '=', run)
  if (since !== undefined) query = query.where('recorded_at', '>=', since)
  if (until !== undefined) query = query.where('recorded_at', '<', until)
  const rows = await query.execute()
  return rows.map(({ run_id, count, ...row }) => ({ ...row, run: run_id, count: Number(count) }))
}
