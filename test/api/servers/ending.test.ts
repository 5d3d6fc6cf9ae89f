import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { StandIn } from '../../support/eventstore/stand-in.ts'
import { describeWithPostgres } from '../../support/postgres.ts'
import { cliFolder, inProcess } from '../cli-support.ts'

describeWithPostgres('a process on servers that is told to end', (server) => {
  const folder = cliFolder()
  const eventstore = new StandIn()
  beforeAll(() => eventstore.start())
  afterAll(async () => {
    folder.clean()
    await eventstore.stop()
  })

  it('ends while what it asked of PostgreSQL hangs', async () => {
    const env = {
      KEEPUP_EVENTSTORE: eventstore.url,
      KEEPUP_POSTGRES: server().url,
      KEEPUP_NAMESPACE: 'held',
      KEEPUP_DRAIN_MS: '0',
    }
    expect(await inProcess(['--data', folder.data, 'release', '--all'], env)).toMatchObject({ code: 0 })
    const operator = new pg.Client({ connectionString: server().url })
    await operator.connect()
    try {
      await operator.query('begin; lock table held_1.due in access exclusive mode')
      const worker = folder.start(['worker'], { env })
      const held = 'select count(*)::int as n from pg_locks where not granted'
      await expect.poll(async () => (await operator.query(held)).rows[0].n, { timeout: 15_000 }).toBeGreaterThan(0)
      worker.process.kill('SIGTERM')
      const { signal, err } = await worker.ended
      expect(signal).toBe(null)
      expect(err).not.toContain('sweep')
    } finally {
      await operator.end()
    }
  }, 30_000)
})
