import type pg from 'pg'
import { expect, it } from 'vitest'
import { selectRuns } from '../../../projections/agent/queries/runs.ts'
import { PostgresHome } from '../../../projections/engine/postgres/home.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { numbers, rebuilding } from '../../support/projections/rebuilding.ts'
import { tell } from '../../support/projections/tell.ts'

/** The pool, but that something happens after the first query that holds a text. */
function interrupted(pool: pg.Pool, text: string, happens: () => Promise<unknown>): pg.Pool {
  let happened = false
  const query = async (client: pg.PoolClient, args: unknown[]) => {
    const answer = await (client.query as (...args: unknown[]) => Promise<unknown>)(...args)
    if (!happened && String(args[0]).includes(text)) {
      happened = true
      await happens()
    }
    return answer
  }
  const connect = async () => {
    const client = await pool.connect()
    return { query: (...args: unknown[]) => query(client, args), release: () => client.release() }
  }
  return { connect, end: async () => undefined } as unknown as pg.Pool
}

describeWithSharedPostgres('a switch of the tables', (server) => {
  const { open } = rebuilding(server)

  it('under a reader that has looked which are live and not read them yet: it looks again', async () => {
    const { log } = tell(numbers)
    const { pool, schema, projections, there } = await open(log)
    const runs = await projections.read((db) => selectRuns(db))
    let dropped = false
    const between = interrupted(pool, 'set_config', async () => {
      await projections.rebuild()
      dropped = !(await there()).includes(`${schema}_1`)
    })
    expect(await new PostgresHome({ pool: between, schema }).read((db) => selectRuns(db))).toEqual(runs)
    expect(dropped).toBe(true)
  })

  it('finds the planner told how large the new ones are, before the first query', async () => {
    const { log } = tell(numbers)
    const { pool, home, schema, projections } = await open(log)
    let known: unknown
    const pointTo = home.pointTo.bind(home)
    home.pointTo = async (...args) => {
      const pointed = await pointTo(...args)
      const size = `select reltuples as n from pg_class where oid = to_regclass('${schema}_2.event_rows')`
      known = (await pool.query(size)).rows[0].n
      return pointed
    }
    await projections.rebuild()
    expect(known).toBe(log.events.length)
  })

  it('lets the roles that may read all views read a new one, and no other role', async () => {
    const { log } = tell(numbers)
    const { pool, schema, home, projections } = await open(log)
    const { role } = await home.grantAuditors()
    await pool.query(`create role ${schema}_some; grant usage on schema ${schema} to ${schema}_some`)
    await pool.query(`grant select on ${schema}.runs to ${schema}_some`)
    // As it was before a program that has this view.
    await pool.query(`drop view ${schema}.phases`)
    await projections.rebuild()
    const may = async (who: string, view: string) =>
      (await pool.query('select has_table_privilege($1, $2, $3) as may', [who, `${schema}.${view}`, 'select'])).rows[0]
        .may
    expect([await may(role, 'phases'), await may(role, 'runs')]).toEqual([true, true])
    expect([await may(`${schema}_some`, 'phases'), await may(`${schema}_some`, 'runs')]).toEqual([false, true])
  })
})
