import pg from 'pg'
import { connectionLost } from '../../../domain/log/lost.ts'
import { quoted, type Relation, relationsOf } from './catalog.ts'
import { stateOf } from './failures.ts'
import { granting, grantsIn } from './grants.ts'
import type { Names } from './names.ts'
import { ownIn, ownRoutines } from './shape.ts'

// People build views of their own on the published ones. A switch takes these along: the very view that somebody has built
// on shows the new tables and stays where it was. What is not ours is never dropped, nor altered.

/**
 * Views that something outside of them stands on, with the columns that the same view of other tables has: those that both
 * have come first and in the old order, which is how a view can be replaced in place.
 */
const BUILT_ON = `select c.relname as name, new.columns
  from pg_class c join pg_namespace s on s.oid = c.relnamespace
  cross join lateral (
    select string_agg(quote_ident(a.attname), ', ' order by o.attnum nulls last, a.attnum) as columns
    from pg_attribute a left join pg_attribute o on o.attrelid = c.oid and o.attname = a.attname
    where a.attrelid = to_regclass(format('%I.%I', $2::text, c.relname)) and a.attnum > 0 and not a.attisdropped) as new
  where s.nspname = $1 and c.relkind = 'v' and new.columns is not null and exists (
    select from pg_depend d
    where (d.refclassid, d.refobjid) in (('pg_class'::regclass, c.oid), ('pg_type'::regclass, c.reltype)) and d.deptype = 'n'
      and not (d.classid = 'pg_rewrite'::regclass and d.objid in (select r.oid from pg_rewrite r where r.ev_class = c.oid)))`

/** Something of somebody's own that could not go along. */
export interface Staying {
  /** As SQL. */
  readonly name: string
  readonly why: pg.DatabaseError
}

/**
 * Makes views of `old`, which was the live generation, the published ones of the live generation, where somebody has built
 * on them; and takes along what somebody has put beside them. One that is being read, or whose columns or name do not allow
 * it, stays aside. Waits for nobody. Gives what of somebody's own stays, and why.
 */
export async function takeAlong(
  client: pg.PoolClient,
  names: Names,
  old: number,
  live: number,
): Promise<readonly Staying[]> {
  const { control, views, published, tables } = names
  const aside = names.asideViews(old)
  await client.query(`set local lock_timeout = '100ms'`)
  const { rows } = await client.query<{ name: string; columns: string }>(BUILT_ON, [aside, tables(live)])
  const grants = await grantsIn(client, views, tables(live))
  for (const { name, columns } of rows) {
    const view = quoted(name)
    const shows = `(select ${control}.shows(${live}))`
    await attempt(client, [
      `create or replace view ${aside}.${view} as select ${columns} from ${tables(live)}.${view} where ${shows}`,
      ...grants.views.filter((one) => one.name === name).map((one) => granting(one, `${aside}.${view}`)),
      `drop view if exists ${published}.${view}`,
      `alter view ${aside}.${view} set schema ${published}`,
    ])
  }
  const staying: Staying[] = []
  for (const { kind, name } of await alienTo(client, names, old)) {
    const why = await attempt(client, [`alter ${kind} ${name} set schema ${published}`])
    if (why !== null) staying.push({ name, why })
  }
  return staying
}

/**
 * Drops the tables and views of a generation; fails with SQLSTATE 2BP01 where something else stands on them, or lies among
 * them.
 */
export async function dropGeneration(client: pg.PoolClient, names: Names, n: number): Promise<void> {
  const [tables, aside] = [names.tables(n), names.asideViews(n)]
  const inside = await ownIn(client, tables)
  const ours = new Set(inside.map(({ name }) => name))
  const beside = (await relationsOf(client, aside)).filter(({ name, kind }) => kind === 'v' && ours.has(name))
  const of = (schema: string, all: readonly Relation[], kind: string) =>
    all.filter((one) => one.kind === kind).map(({ name }) => `${schema}.${quoted(name)}`)
  const views = [...of(aside, beside, 'v'), ...of(tables, inside, 'v')]
  const { rows: routines } = await client.query<{ name: string }>(ROUTINES, [tables, ownRoutines])
  for (const [kind, all] of [
    ['view', views],
    ['table', of(tables, inside, 'r')],
    ['routine', routines.map(({ name }) => name)],
    ['schema if exists', [aside, tables]],
  ] as const) {
    if (all.length > 0) await client.query(`drop ${kind} ${all.join(', ')}`)
  }
}

/** What stands in the way of a drop, in words, from the error that says so. */
export const standsInTheWay = (error: unknown): string | null =>
  stateOf(error) === '2BP01' ? ((error as pg.DatabaseError).detail ?? (error as Error).message) : null

const ROUTINES = `select cast(p.oid as regprocedure) as name from pg_proc p join pg_namespace s on s.oid = p.pronamespace
  where s.nspname = $1 and p.proname = any($2)`

/** What somebody has put into a schema ($1) beside our views ($2), as SQL; what goes with another is not named. */
const ALIENS = `select 'table' as kind, format('%I.%I', s.nspname, c.relname) as name
  from pg_class c join pg_namespace s on s.oid = c.relnamespace
  where s.nspname = $1 and c.relkind in ('r', 'p', 'f', 'v', 'm', 'S')
    and not c.relname = any($2)
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')
      and d.refclassid = 'pg_class'::regclass and c.relkind = 'S')
  union all select 'type', format('%I.%I', s.nspname, t.typname) from pg_type t join pg_namespace s on s.oid = t.typnamespace
  where s.nspname = $1 and (t.typtype in ('d', 'e', 'r')
    or exists (select from pg_class c where c.oid = t.typrelid and c.relkind = 'c'))
  union all select 'routine', cast(cast(p.oid as regprocedure) as text) from pg_proc p join pg_namespace s on s.oid = p.pronamespace
  where s.nspname = $1 and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid
    and d.deptype = 'i')
  order by 1, 2`

async function alienTo(client: pg.PoolClient, names: Names, n: number) {
  const ours = (await ownIn(client, names.tables(n))).map(({ name }) => name)
  return (await client.query<{ kind: string; name: string }>(ALIENS, [names.asideViews(n), ours])).rows
}

/** All of it, or nothing of it where that is not to be had: then what the server says. */
async function attempt(client: pg.PoolClient, texts: readonly string[]): Promise<pg.DatabaseError | null> {
  await client.query('savepoint attempt')
  try {
    for (const text of texts) await client.query(text)
    await client.query('release savepoint attempt')
    return null
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || connectionLost(error)) throw error
    await client.query('rollback to savepoint attempt')
    return error
  }
}
