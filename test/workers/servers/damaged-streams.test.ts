import { expect, it } from 'vitest'
import { cliOf, deployment } from '../../api/servers/deployment.ts'
import { idIn } from '../../api/support/cli.ts'
import { describeWithPostgres } from '../../support/postgres/postgres.ts'

describeWithPostgres('streams that operators or other programs have damaged', (server) => {
  const place = deployment()
  const { look, doctor } = cliOf(place, server)
  const started = async () => idIn((await look(['run', 'finish', '--no-workspace'])).err)

  it('stop no other run, no verification, no worker and no rebuild, and are told everywhere', async () => {
    const { store } = place.eventstore
    const [whole, tombstoned, foreign, truncated] = [await started(), await started(), await started(), await started()]
    const none = new Uint8Array()
    const stray = { id: crypto.randomUUID(), type: 'noted', contentType: 'x', data: none, metadata: none }
    store.delete(`ns.agent-${tombstoned}`, 'any', true)
    store.append(`ns.agent-${foreign}`, store.events(`ns.agent-${foreign}`)!.length - 1, [stray])
    store.setMetadata(`ns.agent-${truncated}`, { $tb: 3 })

    const after = await started()
    const all = await look(['verify'])
    expect(all.code).toBe(5)
    for (const id of [whole, after]) expect(all.out).toMatch(new RegExp(`^${id}: holds`, 'm'))
    for (const [id, why] of [
      [tombstoned, 'tombstoned'],
      [foreign, 'not written by keepup'],
      [truncated, 'deleted or truncated'],
    ])
      expect(all.out).toMatch(new RegExp(`^${id}: BROKEN.*\n  revision \\d+ CHAIN: .*${why}`, 'm'))
    const held = store.events(`ns.agent-${foreign}`)!.length - 1
    expect(all.out).toMatch(
      new RegExp(
        `^${foreign}: BROKEN, ${held} events.*\n  revision ${held} CHAIN.*last good revision is ${held - 1}`,
        'm',
      ),
    )
    expect(all.out).toContain(`agent-${tombstoned} is parked in the tables at`)
    expect(await look(['verify', whole])).toMatchObject({ code: 0 })

    const { code, of } = await doctor()
    expect(code).toBe(0)
    expect(of('parked')).toMatchObject({ state: 'warning', found: '3 streams are shown only in part' })
    const list = (await look(['runs', 'list', '-o', 'jsonl'])).out.trim().split('\n')
    const incomplete = list.map((line) => JSON.parse(line)).filter((run) => run.incomplete)
    expect(incomplete.map(({ runId }) => runId).sort()).toEqual([tombstoned, foreign, truncated].sort())
    expect((await look(['runs', 'show', foreign])).err).toContain('was not written by keepup')

    expect((await look(['release', '--all'])).out).toMatch(/^0 released, 3 still parked/)
    store.setMetadata(`ns.agent-${truncated}`, {})
    expect((await look(['release', truncated])).out).toMatch(/^1 released, 0 still parked/)
    expect(await look(['verify', truncated])).toMatchObject({ code: 0 })
    expect(await look(['rebuild'])).toMatchObject({ code: 0, out: expect.stringContaining('the tables are equal') })
  })
})

describeWithPostgres('an event of another program in the stream of the log itself', (server) => {
  const place = deployment()
  const { look, doctor } = cliOf(place, server)

  it('parks that stream alone: runs start, run and are verified, and the damage is reported with its remedy', async () => {
    const before = idIn((await look(['run', 'finish', '--no-workspace'])).err)
    const { store } = place.eventstore
    const none = new Uint8Array()
    const stray = { id: crypto.randomUUID(), type: 'noted', contentType: 'x', data: none, metadata: none }
    store.append('ns.log-meta', store.events('ns.log-meta')!.length - 1, [stray])
    const started = await look(['run', 'finish', '--no-workspace'])
    expect(started.code, started.err).toBe(0)
    for (const id of [before, idIn(started.err)]) {
      expect(await look(['verify', id])).toMatchObject({ code: 0 })
      expect((await look(['runs', 'show', id])).code).toBe(0)
    }
    const { of } = await doctor()
    expect(of('parked')).toMatchObject({ state: 'warning', found: '1 stream is shown only in part' })
    expect(of('log-meta')).toMatchObject({ state: 'warning', todo: expect.stringContaining('backup') })
    const all = await look(['verify'])
    expect(all.out).toMatch(/log-meta.*not written by keepup/)
    expect(all.code).toBe(5)
    expect(await look(['rebuild'])).toMatchObject({ code: 0 })
  })
})
