import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { StandIn } from '../../support/eventstore/stand-in.ts'
import { describeWithPostgres } from '../../support/postgres.ts'
import { cliFolder, inProcess } from '../cli-support.ts'

// What "doctor" says of a user of PostgreSQL who may not do what is needed, and of what somebody has dropped.

describeWithPostgres('a user who may not do everything', (server) => {
  const folder = cliFolder()
  const eventstore = new StandIn()
  const call = (args: readonly string[], url: string, namespace = 'ns') =>
    inProcess(['--data', folder.data, ...args], {
      KEEPUP_EVENTSTORE: eventstore.url,
      KEEPUP_POSTGRES: url,
      KEEPUP_NAMESPACE: namespace,
    })
  const doctor = async (url = server().url, namespace?: string) => {
    const { code, out } = await call(['doctor', '-o', 'json'], url, namespace)
    const findings = JSON.parse(out) as { check: string; state: string; found: string; todo: string | null }[]
    return { code, of: (check: string) => findings.find((finding) => finding.check === check) }
  }
  const as = (user: string) => server().url.replace('keepup@', `${user}@`)
  async function sql(text: string): Promise<void> {
    const client = new pg.Client({ connectionString: server().url })
    await client.connect()
    await client.query(text).finally(() => client.end())
  }
  const schemas = ['ns', 'ns_1', 'ns_control', 'ns_leases', 'ns_blobs']

  beforeAll(async () => {
    await eventstore.start()
    expect(await call(['release', '--all'], server().url)).toMatchObject({ code: 0 })
    await sql(`create role app login; grant create on database postgres to app; grant usage on schema ${schemas} to app;
      ${schemas.map((name) => `grant all on all tables in schema ${name} to app`).join(';')}`)
  })
  afterAll(async () => {
    folder.clean()
    await eventstore.stop()
  })

  it('the owner may all of it', async () => {
    const { code, of } = await doctor()
    expect([code, of('rights'), of('schemas'), of('leases'), of('blobs')]).toEqual([
      0,
      ...Array.from({ length: 4 }, () => undefined),
    ])
  })

  it('another user is told what it may not change, table by table', async () => {
    const whole = await doctor(as('app'))
    expect([whole.code, whole.of('rights')]).toEqual([0, undefined])
    expect(whole.of('schemas')).toMatchObject({ state: 'warning', found: expect.stringContaining('ns, ns_1') })
    const rights: [string, string, string][] = [
      ['update', 'ns_leases', 'ns_leases.leases'],
      ['insert', 'ns_blobs', 'ns_blobs.blobs'],
      ['delete', 'ns_1', 'ns_1\\.\\w+, .* and \\d+ more'],
    ]
    for (const [right, schema, named] of rights) {
      await sql(`revoke ${right} on all tables in schema ${schema} from app`)
      const { code, of } = await doctor(as('app'))
      expect([right, code, of('rights')]).toEqual([
        right,
        1,
        expect.objectContaining({ state: 'broken', found: expect.stringMatching(`may not read and write ${named}$`) }),
      ])
      await sql(`grant ${right} on all tables in schema ${schema} to app`)
    }
    await sql('revoke update on ns_blobs.blobs from app')
    expect((await doctor(as('app'))).of('rights')).toBe(undefined)
  })

  it('a server that takes no writes is broken', async () => {
    const { code, of } = await doctor(
      `${server().url}&options=${encodeURIComponent('-c default_transaction_read_only=on')}`,
    )
    expect(code).toBe(1)
    expect(of('rights')).toMatchObject({ state: 'broken', found: expect.stringContaining('takes no writes') })
  })

  it('a schema of another user where nothing was made yet is told before the first start', async () => {
    await sql('create role other; create schema acme authorization other')
    const { code, of } = await doctor(as('app'), 'acme')
    expect(code).toBe(1)
    expect(of('schemas')).toMatchObject({ state: 'broken', found: 'another user owns the schemas acme' })
    const { code: ended, err } = await call(['runs', 'list'], as('app'), 'acme')
    expect(ended).toBe(1)
    expect(err).toMatch(/permission denied for schema acme; name the user \(not app\) that owns the schemas/)
  })

  it('dropped leases come back by themselves, dropped blobs are lost', async () => {
    await sql('drop schema ns_leases cascade')
    expect((await doctor()).of('leases')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('makes it again'),
    })
    await sql('drop schema ns_blobs cascade')
    const { code, of } = await doctor()
    expect([code, of('blobs')]).toEqual([
      1,
      expect.objectContaining({ state: 'broken', todo: expect.stringContaining('restore it') }),
    ])
  })
})
