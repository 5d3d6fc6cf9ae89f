import { expect, it } from 'vitest'
import { deployment } from '../../api/servers/deployment.ts'
import { openLog, standIn } from '../../support/eventstore/logs.ts'
import { describeWithPostgres } from '../../support/postgres/postgres.ts'

describeWithPostgres('a process on servers whose log was replaced by another one', (server) => {
  const { folder, eventstore } = deployment()

  it('ends with the reason and an exit code of its own', async () => {
    const env = { KEEPUP_EVENTSTORE: eventstore.url, KEEPUP_POSTGRES: server().url, KEEPUP_NAMESPACE: 'ns' }
    const running = [folder.start(['worker'], { env }), folder.start(['serve', '--port', '0'], { env })]
    await Promise.all(running.map((one) => one.said('as driver')))
    const other = await standIn()
    await openLog(other.url)
    await eventstore.kill()
    eventstore.restore(other.store)
    await eventstore.start()
    for (const { code, err } of await Promise.all(running.map(({ ended }) => ended))) {
      expect(code, err).toBe(6)
      expect(err).toMatch(/keepup: the log \w+ was replaced: .*\(LOG_REPLACED\)\n$/)
    }
  })
})
