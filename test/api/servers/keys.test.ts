import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startRun } from '../../../api/operations/runs/start-run.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { deployment } from './deployment.ts'

describeWithSharedPostgres('one Idempotency-Key in two processes at once', (server) => {
  const { folder, eventstore } = deployment()

  it('of the same start gives one run; of two starts one is refused', async () => {
    const services = await Promise.all(
      ['a', 'b'].map((data) =>
        openServices(
          ConfigSchema.parse({
            data: join(folder.root, data),
            eventstore: eventstore.url,
            postgres: server().url,
            namespace: 'keys',
            model: folder.env.KEEPUP_MODEL,
          }),
          'owner',
          { autoDrive: false },
        ),
      ),
    )
    onTestFinished(async () => void (await Promise.all(services.map((one) => one.close()))))
    const start = (n: number, task: string, key: string) =>
      startRun(services[n % 2]!, { task, drive: false } as never, { key })
    const same = await Promise.all([0, 1, 0, 1].map((n) => start(n, 'same', 'K')))
    expect(new Set(same.map(({ runId }) => runId)).size).toBe(1)
    expect(same.filter(({ created }) => created)).toHaveLength(1)
    const ended = await Promise.allSettled([0, 1].map((n) => start(n, `task ${n}`, 'L')))
    const codes = ended.map((one) => (one.status === 'rejected' ? one.reason.code : 'started'))
    expect(codes.sort()).toEqual(['IDEMPOTENCY_KEY_REUSED', 'started'])
    const runs = eventstore.store.all.filter(
      ({ stream, revision }) => stream.startsWith('keys.agent-') && revision === 0,
    )
    expect(runs).toHaveLength(2)
  })
})
