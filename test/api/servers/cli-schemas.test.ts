import pg from 'pg'
import { expect, it } from 'vitest'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { cliOf, deployment } from './deployment.ts'

describeWithSharedPostgres('schemas in the way of the command line', (server) => {
  const place = deployment()
  const { eventstore } = place
  const { look, doctor } = cliOf(place, server)

  it('names a schema that stands where the tables are to be', async () => {
    const client = new pg.Client({ connectionString: server().url })
    await client.connect()
    await client.query('create schema theirs; create table theirs.mine (a int)').finally(() => client.end())
    const taken = { KEEPUP_NAMESPACE: 'theirs' }
    const parts = ['schema "theirs" already exists, belongs to the role keepup and holds mine', 'set another namespace']
    const [found, todo] = parts.map((part) => expect.stringContaining(part))
    expect((await doctor(taken)).of('postgres')).toMatchObject({ state: 'broken', found, todo })
    const { code, err } = await look(['run', 'finish', '--no-workspace'], taken)
    expect([code, err, err]).toEqual([1, found, todo])
  })

  it.each(['blobs', 'leases'])('names one that stands where the %s are to be, and leaves it as it is', async (part) => {
    const client = new pg.Client({ connectionString: server().url })
    await client.connect()
    try {
      const namespace = `other${part}`
      await client.query(`create schema ${namespace}_${part}; create sequence ${namespace}_${part}.numbers`)
      const { code, err } = await look(['run', 'finish', '--no-workspace'], { KEEPUP_NAMESPACE: namespace })
      expect([code, err]).toEqual([1, expect.stringContaining(`"${namespace}_${part}" already exists, belongs to`)])
      expect(err).toContain('and holds numbers')
      const made = `select nspname from pg_namespace where nspname like '${namespace}%'`
      expect((await client.query(made)).rows).toHaveLength(1)
      expect(eventstore.store.all.filter(({ stream }) => stream.startsWith(namespace))).toEqual([])
    } finally {
      await client.end()
    }
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
        err: expect.stringContaining('schema "closed" already exists, belongs to the role keepup and holds nothing'),
      })
      const made = `select nspname from pg_namespace where nspname like 'closed%'`
      expect((await client.query(made)).rows).toEqual([{ nspname: 'closed' }])
      expect(eventstore.store.all.filter(({ stream }) => stream.startsWith('closed.'))).toEqual([])
      expect(await look(['release', '--all'])).toMatchObject({ code: 0 })
      // The way in is the right role, and no right for this one.
      const todo = expect.stringMatching(/^name the user that owns the schemas/)
      expect((await doctor(guest)).of('postgres')).toMatchObject({ state: 'broken', todo })
    } finally {
      await client.end()
    }
  })
})
