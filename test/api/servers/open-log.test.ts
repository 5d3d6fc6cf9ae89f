import { expect, it, onTestFinished } from 'vitest'
import { findLog } from '../../../api/process/servers/open-log.ts'
import { StandIn } from '../../support/eventstore/stand-in.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { cliFolder, inProcess } from '../support/cli.ts'
import { wayTo } from './deployment.ts'

describeWithSharedPostgres('the log of a deployment', (server) => {
  it('is found by a process that looked for it just before another process made it, and the tables', async () => {
    const folder = cliFolder()
    const eventstore = await new StandIn().start()
    const env = { KEEPUP_EVENTSTORE: eventstore.url, KEEPUP_POSTGRES: server().url, KEEPUP_NAMESPACE: 'both' }
    onTestFinished(async () => {
      folder.clean()
      await eventstore.stop()
    })
    let other: ReturnType<typeof inProcess> | undefined
    // The first connection to PostgreSQL finds that another process was faster.
    const postgres = await wayTo(server().url, () => {
      other ??= inProcess(['--data', folder.data, 'release', '--all'], env)
      return other
    })
    const config = { eventstore: eventstore.url, postgres, namespace: 'both' } as Parameters<typeof findLog>[0]
    const log = await findLog(config, { warn: () => undefined })
    expect(await other).toMatchObject({ code: 0 })
    expect(log?.logId).toMatch(/^\w{16}$/)
    await log?.close()
  })
})
