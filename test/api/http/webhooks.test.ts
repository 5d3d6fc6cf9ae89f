import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { tempFolder } from '../../support/folders.ts'
import { receiver, SECRET } from '../../support/webhooks/receiver.ts'
import { appOver, bodyOf } from '../support/http.ts'
import { writeScript } from '../support/script.ts'

const TASK = `tell nobody ${SECRET}\nsecond line`

test('a run of a data folder is told to its webhooks, without a secret, also the end of a short process', {
  timeout: 60_000,
}, async () => {
  const root = tempFolder()
  const data = join(root, 'data')
  mkdirSync(data, { mode: 0o700 })
  const model = writeScript(root)
  const it = await receiver()
  const webhooks = [{ name: 'hook', url: it.url, secret: 'HOOK' }]
  const config = ConfigSchema.parse({ data, model, webhooks, publicUrl: 'https://keepup.example' })
  const open = () => openServices(config, 'owner', { autoDrive: true })
  const first = await open()
  await first.vault.set('HOOK', SECRET)
  await first.close()
  const services = await open()
  const { ask, driven } = appOver(services, model)
  const behind = async () =>
    (await bodyOf<{ webhooks: { behind: number }[] }>(await ask('GET', '/v1/webhooks'))).webhooks[0]
  await vi.waitFor(async () => expect(await behind()).toMatchObject({ name: 'hook', behind: 0, types: null }))
  const run = await driven(TASK)
  // The process ends at once, and delivers before.
  await services.close()
  const end = it.got.find(({ notice }) => notice.type === 'run_ended')
  expect(end?.notice).toMatchObject({ run, agent: run, link: `https://keepup.example/runs/${run}` })
  expect(end?.notice.text).toMatch(/^tell nobody secret:ku_/)
  expect(JSON.stringify(it.got)).not.toContain(SECRET)

  const again = await open()
  onTestFinished(() => again.close())
  const later = appOver(again, model)
  const tested = await later.ask('POST', '/v1/webhooks/hook/test')
  expect(await bodyOf(tested)).toEqual({ status: 204, fault: null })
  expect((await later.ask('POST', '/v1/webhooks/other/test')).status).toBe(404)
  const metrics = await (await later.ask('GET', '/v1/metrics')).text()
  expect(metrics).toContain('keepup_webhook_failed{webhook="hook"} 0\n')
  expect(metrics).toMatch(/keepup_webhook_success_timestamp_seconds\{webhook="hook"\} \d/)
  const listed = await (await later.ask('GET', '/v1/webhooks')).text()
  for (const text of [SECRET, 'very-secret-path']) expect(listed).not.toContain(text)
  expect(it.faults).toEqual([])
})
