import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cliOf, deployment } from '../../api/servers/deployment.ts'
import type { Running } from '../../api/support/cli.ts'
import { describeWithPostgres } from '../../support/postgres/postgres.ts'

describeWithPostgres('processes on servers whose event store is put back to an older state', (server) => {
  const place = deployment()
  const { env, look } = cliOf(place, server)
  const { folder, eventstore } = place

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

  it('record nothing, say why and what to do, and end once a person has accepted the loss', async () => {
    const worker = folder.start(['worker'], { env: env() })
    const serve = folder.start(['serve', '--port', '0'], { env: env() })
    await Promise.all([worker.said('as driver'), serve.said('ask it:')])
    const ask = asking(serve)
    const start = () => ask('/v1/runs', { task: 'finish' })
    const done = async () => {
      const { body } = await start()
      const status = async () => ((await ask(`/v1/runs/${body.runId}`)).body.run as { status?: string })?.status
      await expect.poll(status).toBe('completed')
      return String(body.runId)
    }
    const shown = async (id: string) => (await ask(`/v1/runs/${id}`)).body.run as { status: string; turn: number }
    /** A run that the worker drives from turn to turn, for ever. */
    const turns = async () => {
      const more = { workspace: folder.workspace(), tools: ['list_dir'], limits: { maxTurns: 10_000 } }
      const { body } = await ask('/v1/runs', { task: 'wait', ...more })
      await expect.poll(async () => (await shown(String(body.runId))).turn).toBeGreaterThan(1)
      return String(body.runId)
    }
    const kept = await done()
    const turning = await Promise.all([1, 2, 3].map(() => turns()))
    const older = eventstore.store.copy()
    await done()
    // Runs are at work in both the older and the newer state.
    const grown = () => Promise.all(turning.map(async (id) => (await shown(id)).turn))
    const before = await grown()
    await expect.poll(async () => (await grown()).every((turn, n) => turn > before[n]!)).toBe(true)
    await eventstore.kill()
    eventstore.restore(older)
    await eventstore.start()

    const held = older.all.length
    const refused = await start()
    expect(refused).toMatchObject({ status: 409, body: { code: 'LOG_SHORTENED' } })
    expect(JSON.stringify(refused.body)).toMatch(/has lost its end.*keepup repair/)
    const forked = await ask(`/v1/runs/${kept}/fork`, { step: 1 })
    expect(forked).toMatchObject({ status: 409, body: { code: 'LOG_SHORTENED' } })
    expect(await ask('/v1/ready')).toMatchObject({ status: 503, body: { ready: false, log: 'shortened' } })
    await Promise.all([worker, serve].map((one) => one.said('the log has lost its end')))
    expect(older.all.slice(held).map(({ stream, type }) => `${stream} ${type}`)).toEqual([])

    expect(await look(['repair', '--accept-loss', '--yes'])).toMatchObject({ code: 0 })
    for (const { code, err } of await Promise.all([worker.ended, serve.ended])) {
      expect(code, err).toBe(6)
      expect(err).toMatch(/start this process again.*\(LOG_REPLACED\)\n$/)
    }
    expect(await look(['run', 'finish', '--no-workspace'])).toMatchObject({ code: 0 })
  })
})
