import type pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { code, numbers, rebuilding } from '../../support/projections/rebuilding.ts'
import { tell } from '../../support/projections/tell.ts'

const story = () => tell(numbers.slice(0, 80)).log

describeWithSharedPostgres('foreign objects in the schemas of the tables', (server) => {
  const { open } = rebuilding(server)

  it.each([
    ['a function', (s: string) => `create function ${s}.f(a integer) returns integer language sql as 'select a'`],
    ['a type', (s: string) => `create type ${s}.mood as enum ('well')`],
    ['a sequence', (s: string) => `create sequence ${s}.s`],
    ['a table', (s: string) => `create table ${s}.notes as select 'precious' as t`],
  ])('%s in the published schema: a rebuild refuses by name and changes nothing', async (_, create) => {
    const { pool, schema, projections, there } = await open(story())
    await pool.query(create(schema))
    const before = await there()
    await expect(projections.rebuild()).rejects.toEqual(code('REFUSED'))
    await expect(projections.rebuild()).rejects.toThrow(/^\S+ lies in the schema of the tables; move it/)
    expect(await there()).toEqual(before)
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

  it('a leftover that cannot be dropped stops no process, and is told once', async () => {
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
    await pool.query(`grant usage on schema ${schema} to ${own}`)
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
      await may(own!, `select * from ${schema}.runs`),
    ]
    const before = await rights()
    expect(before).toEqual([true, '42501', true, '42501', true])
    await projections.rebuild()
    expect(await rights()).toEqual(before)
    await pool.query(`revoke usage on schema ${schema} from public`)
    await projections.rebuild()
    expect([await may(everybody!, `select * from ${schema}.runs`), await may(own!, `table ${schema}.runs`)]).toEqual([
      '42501',
      true,
    ])
  })
})
