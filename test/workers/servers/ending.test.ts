import pg from 'pg'
import { expect, it } from 'vitest'
import { deployment } from '../../api/servers/deployment.ts'
import { inProcess } from '../../api/support/cli.ts'
import { SilentProxy } from '../../support/network/silent-proxy.ts'
import { describeWithPostgres } from '../../support/postgres/postgres.ts'

describeWithPostgres('a process on servers that is told to end', (server) => {
  const { folder, eventstore } = deployment()

  it('ends while what it asked of PostgreSQL hangs', async () => {
    const env = {
      KEEPUP_EVENTSTORE: eventstore.url,
      KEEPUP_POSTGRES: server().url,
      KEEPUP_NAMESPACE: 'held',
      KEEPUP_DRAIN_MS: '20000',
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
      const { code, signal, err } = await worker.ended
      expect([code, signal], err).toEqual([0, null])
      // Told to end, it calls nothing a fault that it broke off itself.
      expect(err).not.toMatch(/looking for what is due|does not end/)
    } finally {
      await operator.end()
    }
  })

  it('ends while PostgreSQL is frozen', async () => {
    const proxy = new SilentProxy(`${decodeURIComponent(/host=(.*)$/.exec(server().url)![1]!)}/.s.PGSQL.5432`)
    const env = {
      KEEPUP_EVENTSTORE: eventstore.url,
      KEEPUP_POSTGRES: `postgres://keepup@127.0.0.1:${await proxy.listen()}/postgres`,
      KEEPUP_NAMESPACE: 'frozen',
    }
    const operator = new pg.Client({ connectionString: server().url })
    await operator.connect()
    try {
      const worker = folder.start(['worker'], { env })
      await worker.said('working on')
      const moving = 'select from frozen_leases.leases'
      await expect.poll(async () => (await operator.query(moving)).rowCount).toBe(1)
      proxy.silence({ deaf: true })
      worker.process.kill('SIGTERM')
      const { code, err } = await worker.ended
      expect([code, err]).toEqual([0, expect.stringMatching(/Z ending\n\S+Z ended\n$/)])
    } finally {
      await operator.end()
      proxy.close()
    }
  })
})
