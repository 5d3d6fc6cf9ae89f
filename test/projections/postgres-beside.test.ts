import type pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { Projections } from '../../projections/projections.ts'
import { describeWithPostgres } from '../support/postgres.ts'
import { numbers, rebuilding } from '../support/projections/rebuilding.ts'
import { tell } from '../support/projections/tell.ts'

const story = () => tell(numbers.slice(0, 80)).log

describeWithPostgres('what somebody keeps in the schemas of the tables', (server) => {
  const { open } = rebuilding(server)

  it('goes along with a rebuild, whatever it is', async () => {
    const { pool, schema, projections, there, warned } = await open(story())
    await pool.query(`
      create function ${schema}.f(a integer) returns integer language sql as 'select a';
      create type ${schema}.mood as enum ('well'); create type ${schema}.pair as (a integer, b integer);
      create sequence ${schema}.s; create table ${schema}.notes (id serial primary key, t text);
      create table ${schema}.parts (a integer) partition by list (a);
      create table ${schema}.part partition of ${schema}.parts default`)
    for (const n of [2, 3]) {
      await projections.rebuild()
      expect(await there()).toEqual([schema, `${schema}_${n}`, `${schema}_control`])
      await pool.query(`insert into ${schema}.notes (t) values ('x'); insert into ${schema}.parts values (1)`)
      const asked = `select ${schema}.f(7) as f, nextval('${schema}.s') as s, 'well'::${schema}.mood as mood,
        row(1, 2)::${schema}.pair is null as pair`
      expect((await pool.query(asked)).rows).toEqual([{ f: 7, s: n - 1, mood: 'well', pair: false }])
    }
    expect(warned).toEqual([])
  })

  it('under a name that was taken meanwhile stays aside, is told once with what to do, and stops nobody', async () => {
    const { pool, schema, projections, there, warned } = await open(story())
    await pool.query(`create table ${schema}.mine as select 'first' as t`)
    const reader = await pool.connect()
    onTestFinished(() => reader.release(true))
    await reader.query(`begin; select from ${schema}.mine`)
    await projections.rebuild()
    await projections.tidy()
    expect(warned).toEqual([])
    await reader.query('rollback')
    await pool.query(`create table ${schema}.mine as select 'second' as t`)
    await projections.tidy()
    expect(await projections.rebuild()).toMatchObject({ switched: true })
    await projections.tidy()
    expect(warned).toEqual([expect.stringContaining(`${schema}_1_views.mine (relation "mine" already exists`)])
    expect(warned[0]).toMatch(/alter … set schema/)
    const kept = `select (select t from ${schema}.mine) as now, (select t from ${schema}_1_views.mine) as aside`
    expect((await pool.query(kept)).rows).toEqual([{ now: 'second', aside: 'first' }])
    await pool.query(`drop table ${schema}.mine; alter table ${schema}_1_views.mine set schema ${schema}`)
    await projections.tidy()
    expect(await there()).toEqual([schema, `${schema}_3`, `${schema}_control`])
  })

  it('under a name that a new version of the tables brings stays aside; the tables are made once', async () => {
    const log = story()
    const { pool, schema, home, there, close, warned } = await open(log)
    await close()
    // As an older program had left it, without that view.
    await pool.query(`drop view ${schema}.checkpoints; drop view ${schema}_1.checkpoints`)
    await pool.query(`create table ${schema}.checkpoints as select 'theirs' as t`)
    await pool.query(`update ${schema}_control.generations set meaning = 1`)
    for (let i = 0; i < 2; i++) await (await Projections.open({ log, blobs: log.blobs, home })).close()
    expect(await there()).toEqual([schema, `${schema}_1`, `${schema}_1_views`, `${schema}_2`, `${schema}_control`])
    expect((await pool.query(`select t from ${schema}_1_views.checkpoints`)).rows).toEqual([{ t: 'theirs' }])
    expect(warned).toEqual([expect.stringContaining(`${schema}_1_views.checkpoints (relation "checkpoints" already`)])
  })

  it('is not dropped with tables that it lies among, nor published', async () => {
    const { pool, schema, projections, there, warned } = await open(story())
    await pool.query(`create table ${schema}_1.notes as select 'precious' as t`)
    await pool.query(`create function ${schema}_1.f() returns integer language sql as 'select 1'`)
    await projections.tidy()
    await projections.rebuild()
    expect((await pool.query(`select t, ${schema}_1.f() as f from ${schema}_1.notes`)).rows).toEqual([
      { t: 'precious', f: 1 },
    ])
    expect((await pool.query(`select to_regclass('${schema}.notes') as there`)).rows).toEqual([{ there: null }])
    expect(warned).toEqual([expect.stringContaining(`table ${schema}_1.notes depends on schema ${schema}_1`)])
    await pool.query(`drop table ${schema}_1.notes; drop function ${schema}_1.f()`)
    await projections.tidy()
    expect(await there()).toEqual([schema, `${schema}_2`, `${schema}_control`])
  })

  it('is left alone in a schema that is called like tables of ours, whatever lies in it', async () => {
    const { pool, schema, projections, there } = await open(story())
    await pool.query(`create schema ${schema}_2; create table ${schema}_2.event_rows as table ${schema}_1.event_rows`)
    await projections.tidy()
    await projections.rebuild()
    expect(await there()).toEqual([schema, `${schema}_2`, `${schema}_3`, `${schema}_control`])
    expect((await pool.query(`select from ${schema}_2.event_rows`)).rowCount).toBeGreaterThan(0)
  })

  it('is not given to auditors, nor does its name mean anything', async () => {
    const { pool, schema, home } = await open(story())
    const name = `agent_lineage" to public; --`
    await pool.query(`create view ${schema}."${name.replaceAll('"', '""')}" as select 1 as x`)
    const { role } = await home.grantAuditors(`${schema}_ann`)
    const may = `select has_table_privilege('public', '${schema}.agent_lineage', 'select') as everybody,
      has_table_privilege('${role}', '${schema}.agent_lineage', 'select') as ann,
      has_table_privilege('${role}', (select oid from pg_class where relname = $1), 'select') as theirs`
    expect((await pool.query(may, [name])).rows).toEqual([{ everybody: false, ann: true, theirs: false }])
  })

  it('what is left over that cannot be dropped stops nobody, and is told once', async () => {
    const log = story()
    const { pool, schema, projections, warned, close } = await open(log)
    await pool.query(
      `create schema ${schema}_9; create table ${schema}_9.position (); create role ${schema}_me nosuperuser`,
    )
    const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>
    // Who cleans up may not drop it.
    Object.assign(pool, {
      async connect() {
        const client = await connect()
        const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
        const limited = (text: string, values?: unknown[]) =>
          query(
            `${text}`.includes(`drop schema if exists ${schema}_9`) ? `set local role ${schema}_me; ${text}` : text,
            values,
          )
        return new Proxy(client, { get: (of, name) => (name === 'query' ? limited : Reflect.get(of, name, of)) })
      },
    })
    onTestFinished(() => void Object.assign(pool, { connect }))
    await projections.tidy()
    await projections.tidy()
    await close()
    expect(warned).toEqual([expect.stringMatching(`cannot be dropped now \\(must be owner of schema ${schema}_9\\)`)])
  })

  it('rights that were given are kept: to everybody, on single columns, to use the schema alone', async () => {
    const { pool, schema, projections } = await open(story())
    const roles = ['all', 'col', 'own'].map((name) => `${schema}_${name}`)
    for (const role of roles) await pool.query(`create role ${role}`)
    const [everybody, columns, own] = roles
    await pool.query(`grant usage on schema ${schema} to public; grant select on ${schema}.runs to public`)
    await pool.query(`grant select (id, "status") on ${schema}.agents to ${columns}`)
    await pool.query(`grant usage on schema ${schema} to ${own}; create table ${schema}.notes (t text)`)
    await pool.query(`grant select on ${schema}.notes to ${own}`)
    const may = async (role: string, sql: string) => {
      const client = await pool.connect()
      try {
        await client.query(`set role ${role}`)
        return await client.query(sql).then(
          () => true,
          (error) => error.code,
        )
      } finally {
        client.release(true)
      }
    }
    const rights = async () => [
      await may(everybody!, `select * from ${schema}.runs`),
      await may(everybody!, `select * from ${schema}.agents`),
      await may(columns!, `select id, status from ${schema}.agents`),
      await may(columns!, `select * from ${schema}.agents`),
      await may(own!, `select * from ${schema}.notes`),
    ]
    const before = await rights()
    expect(before).toEqual([true, '42501', true, '42501', true])
    await projections.rebuild()
    expect(await rights()).toEqual(before)
    await pool.query(`revoke usage on schema ${schema} from public`)
    await projections.rebuild()
    expect([await may(everybody!, `select * from ${schema}.runs`), await may(own!, `table ${schema}.notes`)]).toEqual([
      '42501',
      true,
    ])
  })
})
