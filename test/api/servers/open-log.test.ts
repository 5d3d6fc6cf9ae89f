import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { findLog } from '../../../api/servers/open-log.ts'
import { StandIn } from '../../support/eventstore/stand-in.ts'
import { describeWithPostgres } from '../../support/postgres.ts'
import { cliFolder, inProcess } from '../cli-support.ts'

const socketOf = (url: string) => `${new URL(url.replace('@/', '@localhost/')).searchParams.get('host')}/.s.PGSQL.5432`

describeWithPostgres('the log of a deployment', (server) => {
  it('is found by whoever looked for it just before another process made it, and the tables', async () => {
    const folder = cliFolder()
    const eventstore = await new StandIn().start()
    const env = { KEEPUP_EVENTSTORE: eventstore.url, KEEPUP_POSTGRES: server().url, KEEPUP_NAMESPACE: 'both' }
    let other: Promise<{ code: number }> | undefined
    // Whoever comes to PostgreSQL finds that another one was there first.
    const way = createServer(async (from) => {
      from.on('error', () => undefined)
      other ??= inProcess(['--data', folder.data, 'release', '--all'], env)
      await other
      const to = createConnection(socketOf(server().url))
      to.on('error', () => undefined)
      from.pipe(to).pipe(from)
    }).listen(0, '127.0.0.1')
    onTestFinished(async () => {
      way.close()
      folder.clean()
      await eventstore.stop()
    })
    await once(way, 'listening')
    const postgres = `postgres://keepup@127.0.0.1:${(way.address() as AddressInfo).port}/postgres`
    const config = { eventstore: eventstore.url, postgres, namespace: 'both' } as Parameters<typeof findLog>[0]
    const log = await findLog(config, { warn: () => undefined })
    expect(await other).toMatchObject({ code: 0 })
    expect(log?.logId).toMatch(/^\w{16}$/)
    await log?.close()
  })
})
