import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, it } from 'vitest'
import { cliOf, deployment } from '../api/servers/deployment.ts'
import type { Running } from '../api/support/cli.ts'
import { describeWithPostgres } from '../support/postgres/postgres.ts'

// A `serve` and a `worker` that are never restarted.

describeWithPostgres('a PostgreSQL that fails over', (server) => {
  const place = deployment()
  const { env, look } = cliOf(place, server)
  const { folder } = place
  const LEASE = { KEEPUP_LEASE_MS: '2000' }

  const asking = (serve: Running) => {
    const [, url] = / on (http:[^,\s]+)/.exec(serve.err())!
    const headers = {
      authorization: `Bearer ${readFileSync(join(folder.data, 'token'), 'utf8').trim()}`,
      'content-type': 'application/json',
    }
    return async (path: string, body?: object) => {
      const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
      const answer = await fetch(`${url}${path}`, init)
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
    }
  }

  it('away, older or read-only: what still works goes on, the rest says so, and all of it comes back', async () => {
    const serve = folder.start(['serve', '--port', '0'], { env: env(LEASE) })
    const worker = folder.start(['worker'], { env: env(LEASE) })
    await Promise.all([serve.said('ask it:'), worker.said('as driver')])
    const ask = asking(serve)
    const start = async () => {
      const { status, body } = await ask('/v1/runs', { task: 'finish' })
      expect([status, body]).toEqual([201, expect.anything()])
      return String(body.runId)
    }
    const statusOf = async (id: string) => ((await ask(`/v1/runs/${id}`)).body.run as { status?: string })?.status
    const ended = (id: string) => expect.poll(() => statusOf(id), { timeout: 60_000 }).toBe('completed')
    const ready = () => expect.poll(async () => (await ask('/v1/ready')).status, { timeout: 60_000 }).toBe(200)
    const equal = async () => expect(await look(['rebuild'])).toMatchObject({ code: 0 })
    const first = await start()
    await ended(first)

    // It is killed and comes back.
    server().stop('immediate')
    expect(await ask('/v1/ready')).toMatchObject({ status: 503, body: { log: 'answers', tables: 'silent' } })
    server().start()
    await ready()
    const second = await start()
    await ended(second)

    // An older standby takes its place.
    server().stop('fast')
    const older = server().save()
    server().start()
    await ready()
    const third = await start()
    await ended(third)
    server().stop('immediate')
    server().restore(older)
    server().start()
    await ready()
    for (const id of [first, second, third]) await ended(id)
    const fourth = await start()
    await ended(fourth)
    await equal()

    // It refuses writes for a while.
    const admin = new pg.Client({ connectionString: server().url })
    await admin.connect()
    const sql = async (...statements: string[]) => {
      for (const text of statements) await admin.query(text)
    }
    await sql(
      'set default_transaction_read_only = off',
      'alter system set default_transaction_read_only = on',
      'select pg_reload_conf()',
    )
    const state = async () => (await ask('/v1/ready')).body
    await expect.poll(state, { timeout: 60_000 }).toMatchObject({ ready: false, log: 'answers', tables: 'unusable' })
    expect(await statusOf(fourth)).toBe('completed')
    await sql('alter system reset default_transaction_read_only', 'select pg_reload_conf()')
    await admin.end()
    await ready()
    const fifth = await start()
    await ended(fifth)
    await equal()
    for (const one of [serve, worker]) {
      one.process.kill('SIGTERM')
      const { code, err } = await one.ended
      expect(code, err).toBe(0)
    }
  })
})
