import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { collector } from '../../support/telemetry/collector.ts'
import { spansIn } from '../../support/telemetry/spans.ts'
import { appOver } from '../support/http.ts'
import { cliOf, deployment } from './deployment.ts'

describeWithSharedPostgres('telemetry on servers', (server) => {
  const { folder, eventstore } = deployment()
  const { env } = cliOf({ folder, eventstore }, server)

  it('a run that ends in any process is sent once, by the process with the lease', async () => {
    const { url, spans } = await collector()
    const open = async (machine: string) => {
      const data = join(folder.data, machine)
      mkdirSync(data, { recursive: true })
      writeFileSync(join(data, 'keepup.json'), JSON.stringify({ telemetry: { url } }))
      const config = loadConfig({ flags: { data }, env: env({ KEEPUP_NAMESPACE: 'telemetry' }) })
      const services = await openServices(config, 'owner', { autoDrive: false }, { tell: () => {} })
      onTestFinished(() => services.close())
      return appOver(services, folder.env.KEEPUP_MODEL)
    }
    const [one, two] = [await open('one'), await open('two')]
    const begun = async () =>
      (await one.services.consumers.list()).some(({ name, epoch }) => name === 'keepup.telemetry' && epoch > 1)
    await expect.poll(begun).toBe(true)
    const runs = [await one.driven('finish one'), await two.driven('finish two')]
    const state = () => two.services.telemetry.state()
    await expect.poll(async () => (await one.services.consumers.get('keepup.telemetry')).lag).toBe(0)
    expect(await state()).toMatchObject({ target: url, failure: null, sentAt: expect.any(String) })
    const expected = await Promise.all(runs.map((run) => spansIn(one.services, run)))
    const idsOf = (all: readonly { readonly spanId: string }[]) => all.map(({ spanId }) => spanId).sort()
    expect(idsOf(spans())).toEqual(idsOf(expected.flat()))
  })
})
