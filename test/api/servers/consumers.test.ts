import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { PostgresPositions } from '../../../adapters/postgres/positions.ts'
import { keepUpOf } from '../../../api/library/keepup.ts'
import type { Services } from '../../../api/operations/services.ts'
import { loadConfig } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { ConsumerModel } from '../../support/consumers/world.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { schemasOf } from '../../support/projections/postgres-kit.ts'
import { eventsIn } from '../support/http.ts'
import { cliOf, deployment } from './deployment.ts'

const BY = { kind: 'user', id: 'ann' } as const

describeWithSharedPostgres('consumers on servers', (server) => {
  const { folder, eventstore } = deployment()
  const { env } = cliOf({ folder, eventstore }, server)
  const schemas = schemasOf(server)

  async function open(machine: string): Promise<Services> {
    const data = join(folder.data, machine)
    mkdirSync(data, { recursive: true })
    const config = loadConfig({ flags: { data }, env: env({ KEEPUP_NAMESPACE: 'consumers' }) })
    const services = await openServices(config, 'owner', { autoDrive: false }, { tell: () => {} })
    onTestFinished(() => services.close())
    return services
  }
  const library = (services: Services) =>
    keepUpOf(services, { by: 'ann', key: null, leaseMs: 5_000 }, () => services.close())
  const write = async (s: Services, count: number) => {
    for (let n = 0; n < count; n += 1) await s.contexts.open('desk', BY).set(`k${n}`, n)
  }

  it('share a position between processes: the second reader takes over, and nothing is lost', async () => {
    const [one, two] = [await open('one'), await open('two')]
    await write(one, 10)
    const got: string[] = []
    const first = library(one).consume({ name: 'desk' }, (events) => void got.push(...events.map(({ id }) => id)))
    const refused = expect(first).rejects.toMatchObject({ code: 'CONSUMER_TAKEN' })
    await expect.poll(async () => (await two.consumers.get('desk')).lag).toBe(0)
    const over = new AbortController()
    const second = library(two).consume({ name: 'desk', signal: over.signal }, (events) => {
      got.push(...events.map(({ id }) => id))
    })
    await refused
    await write(one, 10)
    await expect.poll(async () => (await one.consumers.get('desk')).lag).toBe(0)
    over.abort()
    await second
    // An event that the first reader had not acked came again.
    const unique = [...new Set(got)]
    const all = (await eventsIn(one)).map(({ id }) => id)
    expect(unique).toEqual(all.slice(0, unique.length))
    expect(unique.length).toBeGreaterThan(20)
  })

  it('cut off anywhere, the next reader goes on after the last ack', async () => {
    const one = await open('three')
    const positions = await PostgresPositions.open({ pool: schemas.pool(), schema: schemas.fresh() })
    const model = new ConsumerModel(one.log, positions, { types: ['variable_set'] }, one.blobs)
    await model.create()
    for (let n = 0; n < 12; n += 1) {
      await write(one, n % 3)
      await model.grown()
      if (n % 4 === 0) model.restart()
      await model.session(
        [
          { max: 1 + (n % 5), ack: n % 2 === 0 },
          { max: 3, ack: n % 3 === 0 },
        ],
        n % 4 === 1,
      )
    }
    await model.finish()
    expect(model.repeated).toBeGreaterThan(0)
  })
})
