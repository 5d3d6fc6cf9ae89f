import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { lookAtServers } from '../../../api/servers/look.ts'
import { StandIn } from '../../support/eventstore/stand-in.ts'
import { describeWithPostgres } from '../../support/postgres.ts'
import { cliFolder, inProcess } from '../cli-support.ts'

const socketOf = (url: string) => `${new URL(url.replace('@/', '@localhost/')).searchParams.get('host')}/.s.PGSQL.5432`

describeWithPostgres('a look at servers', (server) => {
  it('tells an event store that goes away meanwhile as that, and what PostgreSQL holds all the same', async () => {
    const folder = cliFolder()
    const eventstore = await new StandIn().start()
    // Whoever comes to PostgreSQL finds the event store gone from then on.
    const way = createServer((from) => {
      void eventstore.kill()
      const to = createConnection(socketOf(server().url))
      for (const one of [from, to]) one.on('error', () => undefined)
      from.pipe(to).pipe(from)
    }).listen(0, '127.0.0.1')
    onTestFinished(async () => {
      way.close()
      folder.clean()
      await eventstore.stop()
    })
    await once(way, 'listening')
    const env = { KEEPUP_EVENTSTORE: eventstore.url, KEEPUP_POSTGRES: server().url, KEEPUP_NAMESPACE: 'ns' }
    expect(await inProcess(['--data', folder.data, 'release', '--all'], env)).toMatchObject({ code: 0 })
    const postgres = `postgres://keepup@127.0.0.1:${(way.address() as AddressInfo).port}/postgres`
    const seen = await lookAtServers({ eventstore: eventstore.url, postgres, namespace: 'ns' } as never)
    expect(seen.eventstore).toMatchObject({ code: 'LOG_UNAVAILABLE' })
    expect(seen.postgres).toMatchObject({ tables: { behind: null, ahead: false, damage: null } })
  })
})
