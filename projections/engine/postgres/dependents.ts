import type pg from 'pg'
import { ProjectionError } from '../errors.ts'
import { quotedName, type Relation, relationsOf } from './catalog.ts'
import { stateOf } from './failures.ts'
import type { Names } from './names.ts'
import { ownIn, ownRoutines } from './shape.ts'

// A rebuild publishes views of new tables under the old names. A foreign view would keep reading the old tables, so the
// rebuild refuses and names it. Foreign objects are never dropped or altered.

/** Foreign views that read relations of our schemas ($1), and one relation that each reads. */
const READERS = `select format('%I.%I', s.nspname, v.relname) as name, v.relkind as kind,
    min(format('%I.%I', ours.nspname, t.relname)) as reads
  from pg_depend d join pg_rewrite r on r.oid = d.objid
  join pg_class v on v.oid = r.ev_class join pg_namespace s on s.oid = v.relnamespace
  join pg_class t on t.oid = d.refobjid join pg_namespace ours on ours.oid = t.relnamespace
  where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass
    and ours.nspname = any($1) and s.nspname <> all($1) group by 1, 2 order by 1`

/** Tables, views, sequences, types and routines in a schema ($1), except our views ($2). */
const OTHERS = `select format('%I.%I', s.nspname, c.relname) as name
  from pg_class c join pg_namespace s on s.oid = c.relnamespace
  where s.nspname = $1 and c.relkind in ('r', 'p', 'f', 'v', 'm', 'S', 'c') and not c.relname = any($2)
  union all select format('%I.%I', s.nspname, t.typname) from pg_type t join pg_namespace s on s.oid = t.typnamespace
  where s.nspname = $1 and t.typtype in ('d', 'e', 'r')
  union all select cast(cast(p.oid as regprocedure) as text) from pg_proc p join pg_namespace s on s.oid = p.pronamespace
  where s.nspname = $1
  order by 1`

/** Rejects with `REFUSED`, and names them, when a switch of the live tables would leave foreign objects behind. */
export async function mustHaveNoDependents(client: pg.PoolClient, names: Names, live: number): Promise<void> {
  const { views, tables } = names
  const { rows: readers } = await client.query<{ name: string; kind: 'v' | 'm'; reads: string }>(READERS, [
    [views, tables(live)],
  ])
  const ours = (await ownIn(client, tables(live))).map(({ name }) => name)
  const { rows: others } = await client.query<{ name: string }>(OTHERS, [views, ours])
  const found = [
    ...readers.map(
      ({ name, kind, reads }) => `the ${KIND[kind]} ${name} reads ${reads}; drop it, rebuild, create it again`,
    ),
    ...others.map(
      ({ name }) => `${name} lies in the schema of the tables; move it to a schema of your own, then rebuild`,
    ),
  ]
  if (found.length > 0) throw new ProjectionError('REFUSED', found.join('. '))
}

const KIND = { v: 'view', m: 'materialized view' } as const

/** Drops a generation's tables and views. Fails with SQLSTATE 2BP01 if foreign objects depend on its schemas. */
export async function dropGeneration(client: pg.PoolClient, names: Names, n: number): Promise<void> {
  const [tables, aside] = [names.tables(n), names.asideViews(n)]
  const inside = await ownIn(client, tables)
  const ours = new Set(inside.map(({ name }) => name))
  const beside = (await relationsOf(client, aside)).filter(({ name, kind }) => kind === 'v' && ours.has(name))
  const of = (schema: string, all: readonly Relation[], kind: string) =>
    all.filter((one) => one.kind === kind).map(({ name }) => `${schema}.${quotedName(name)}`)
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

/** The objects that prevent a drop, in words, from the server's error; null: another error. */
export const dependentsIn = (error: unknown): string | null =>
  stateOf(error) === '2BP01' ? ((error as pg.DatabaseError).detail ?? (error as Error).message) : null

const ROUTINES = `select cast(p.oid as regprocedure) as name from pg_proc p join pg_namespace s on s.oid = p.pronamespace
  where s.nspname = $1 and p.proname = any($2)`
