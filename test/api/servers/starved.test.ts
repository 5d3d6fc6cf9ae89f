import pg from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openKeepUp } from '../../../api/index.ts'
import { StandIn } from '../../support/eventstore/stand-in.ts'
import { tempFolder } from '../../support/folders.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'

const turns = [{ calls: [{ tool: 'complete_task', arguments: { summary: 'Done.' } }] }]

describeWithSharedPostgres('a process whose connections are all taken by slow questions', (server) => {
  it('drives all the same: heartbeats wait for no question', async () => {
    const eventstore = await new StandIn().start()
    onTestFinished(() => eventstore.stop())
    const settings = { EVENTSTORE: eventstore.url, POSTGRES: server().url, NAMESPACE: 'starved' }
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(`KEEPUP_${name}`, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    const keepup = await openKeepUp({ data: tempFolder(), scripts: { job: { script: 1, turns } } })
    onTestFinished(() => keepup.close())
    const { runId } = await keepup.start({ task: 'Finish', model: 'scripted:job' })
    await keepup.services.read.caughtUp()
    const client = new pg.Client({ connectionString: server().url })
    await client.connect()
    const asking = `select pg_stat_clear_snapshot(), pid from pg_stat_activity where application_name = 'keepup' and wait_event_type = 'Lock'`
    const waiting = async () => (await client.query(asking)).rowCount
    try {
      await client.query('begin; lock table starved_1.runs in access exclusive mode')
      const slow = Promise.all(Array.from({ length: 40 }, () => keepup.services.read.runs({ limit: 1 })))
      // As many as there are connections; the others wait for one.
      await expect.poll(waiting).toBeGreaterThan(6)
      expect(await keepup.drive(runId)).toMatchObject({ end: 'done' })
      await client.query('rollback')
      await slow
    } finally {
      await client.end()
    }
  })
})
