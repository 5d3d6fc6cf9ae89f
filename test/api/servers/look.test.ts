import { expect, it, onTestFinished } from 'vitest'
import { lookAtServers } from '../../../api/process/servers/inspect-servers.ts'
import { StandIn } from '../../support/eventstore/stand-in.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { cliFolder, inProcess } from '../support/cli.ts'
import { wayTo } from './deployment.ts'

describeWithSharedPostgres('a look at servers', (server) => {
  it('tells an event store that goes away meanwhile as that, and what PostgreSQL holds all the same', async () => {
    const folder = cliFolder()
    const eventstore = await new StandIn().start()
    onTestFinished(async () => {
      folder.clean()
      await eventstore.stop()
    })
    const env = { KEEPUP_EVENTSTORE: eventstore.url, KEEPUP_POSTGRES: server().url, KEEPUP_NAMESPACE: 'seen' }
    expect(await inProcess(['--data', folder.data, 'release', '--all'], env)).toMatchObject({ code: 0 })
    // From the first connection to PostgreSQL on the event store is gone.
    const postgres = await wayTo(server().url, () => void eventstore.kill())
    const seen = await lookAtServers({ eventstore: eventstore.url, postgres, namespace: 'seen' } as never)
    expect(seen.eventstore).toMatchObject({ code: 'LOG_UNAVAILABLE' })
    expect(seen.postgres).toMatchObject({ tables: { behind: null, ahead: false, damage: null } })
  })
})
