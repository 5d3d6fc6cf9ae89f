import { afterAll, expect, it } from 'vitest'
import { openServices } from '../../../api/process/open-services.ts'
import { appOver, bodyOf, openWorld } from '../support/http.ts'

// One Idempotency-Key is one request of the whole deployment.

const world = await openWorld()
afterAll(() => world.close())

it('a key of one request is refused with every other one, of whatever run, also after a restart', async () => {
  const { ask, driven } = world
  const [one, two] = [await driven('one'), await driven('two')]
  const at = (key: string) => ({ 'idempotency-key': key })
  const start = (task: string, key: string, over = ask) =>
    over('POST', '/v1/runs', { body: { task, model: world.model, drive: false }, headers: at(key) })
  const pause = (id: string, key: string, over = ask) =>
    over('POST', `/v1/runs/${id}/pause`, { body: {}, headers: at(key) })
  const fork = (id: string, key: string, over = ask) =>
    over('POST', `/v1/runs/${id}/fork`, { body: { drive: false }, headers: at(key) })
  const open = (await bodyOf(await start('waits', 'of-a-start'))).runId as string
  expect((await start('waits', 'of-a-start')).status).toBe(200)
  expect((await pause(open, 'of-a-pause')).status).toBe(200)
  expect((await fork(one, 'of-a-fork')).status).toBe(201)
  expect((await fork(one, 'of-a-fork')).status).toBe(200)

  const refused = async (over = ask) => {
    const answers = [
      await start('another', 'of-a-start', over),
      await pause(open, 'of-a-start', over),
      await fork(one, 'of-a-start', over),
      await start('waits', 'of-a-pause', over),
      await pause(two, 'of-a-pause', over),
      await fork(two, 'of-a-fork', over),
      await start('waits', 'of-a-fork', over),
    ]
    for (const answer of answers)
      expect([answer.status, (await bodyOf(answer)).code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
  }
  await refused()
  await world.services.close()
  const services = await openServices(world.config, 'owner', { autoDrive: false })
  try {
    const { ask: again } = appOver(services, world.model)
    await refused(again)
    expect((await start('waits', 'of-a-start', again)).status).toBe(200)
    expect((await pause(open, 'of-a-pause', again)).status).toBe(200)
  } finally {
    await services.close()
  }
})
