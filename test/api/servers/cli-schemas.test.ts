import pg from 'pg'
import { expect, it } from 'vitest'
import { describeWithPostgres } from '../../support/postgres.ts'
import { cliOf, deployment } from './deployment.ts'

describeWithPostgres('schemas in the way of the command line', (server) => {
  const place = deployment()
  const { eventstore } = place
  const { look, doctor } = cliOf(place, server)

  it('names a schema that stands where the tables are to be', async () => {
    const client = new pg.Client({ connectionString: server().url })
    await client.connect()
    await client.query('create schema theirs; create table theirs.mine (a int)').finally(() => client.end())
    const taken = { KEEPUP_NAMESPACE: 'theirs' }
    const [found, todo] = ['schema "theirs" already exists', 'set another namespace'].map((part) =>
      expect.stringContaining(part),
    )
    expect((await doctor(taken)).of('postgres')).toMatchObject({ state: 'broken', found, todo })
    const { code, err } = await look(['run', 'finish', '--no-workspace'], taken)
    expect([code, err, err]).toEqual([1, found, todo])
  })

  it('says whose it is what another role has there, before anything is made', async () => {
    const client = new pg.Client({ connectionString: server().url })
    await client.connect()
    try {
      await client.query('create role guest login; grant create on database postgres to guest; create schema closed')
      const guest = { KEEPUP_POSTGRES: server().url.replace('keepup@', 'guest@') }
      const closed = { ...guest, KEEPUP_NAMESPACE: 'closed' }
      expect(await look(['run', 'finish', '--no-workspace'], closed)).toMatchObject({
        code: 1,
        err: expect.stringContaining('permission denied for schema closed; name the user (not guest) that owns'),
      })
      const made = `select nspname from pg_namespace where nspname like 'closed%'`
      expect((await client.query(made)).rows).toEqual([{ nspname: 'closed' }])
      expect(eventstore.store.all.filter(({ stream }) => stream.startsWith('closed.'))).toEqual([])
      expect(await look(['release', '--all'])).toMatchObject({ code: 0 })
      // The way in is the right role, and no right for this one.
      const todo = expect.stringMatching(/^name the user \(not guest\) that owns the schemas/)
      expect((await doctor(guest)).of('postgres')).toMatchObject({ state: 'broken', todo })
    } finally {
      await client.end()
    }
  })
})
