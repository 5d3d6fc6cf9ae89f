import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { rightsIn } from '../../../api/process/servers/schema-rights.ts'
import { openPool, PostgresHome } from '../../../projections/postgres.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'

describeWithSharedPostgres('rights of a deployment', (server) => {
  it('are not those on what another application has put beside it, or has called like a part of it', async () => {
    const operator = new pg.Client({ connectionString: server().url })
    await operator.connect()
    await operator.query('create role app login; create role team; grant create on database postgres to app, team')
    const pool = openPool({ url: server().url.replace('keepup@', 'app@'), max: 2 })
    onTestFinished(async () => {
      await pool.shut()
      await operator.end()
    })
    await new PostgresHome({ pool, schema: 'rights' }).live()
    const before = await rightsIn(pool, 'rights')
    expect(before).toMatchObject({ takesWrites: true, lacking: [], foreign: [] })
    await operator.query(`grant usage, create on schema rights to team; set role team; create table rights.notes (t text);
      create schema rights_2024; create table rights_2024.report (t text); reset role`)
    expect(await rightsIn(pool, 'rights')).toEqual(before)
    await operator.query('revoke all on rights_1.runs from app')
    expect((await rightsIn(pool, 'rights')).lacking).toEqual(['rights_1.runs'])
  })
})
