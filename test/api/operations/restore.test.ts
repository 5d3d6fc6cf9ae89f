// @module-tag git
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { checkRestores } from '../../../api/operations/doctor/finding.ts'
import { bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())
const { ask, driven, root, services } = world

interface Event {
  type: string
  payload: Record<string, unknown>
  actor: { kind: string; id: string }
}
interface Shown {
  restoring: { runId: string }[]
}
const restores = async (id: string) => {
  const { events } = await bodyOf<{ events: Event[] }>(await ask('GET', `/v1/runs/${id}/events?limit=500`))
  return events.filter(({ type }) => type.startsWith('restore_'))
}

/** A run that waits for a person, with a file that was changed since. */
async function changed(name: string) {
  const workspace = join(root, name)
  mkdirSync(workspace)
  const file = join(workspace, 'a.txt')
  writeFileSync(file, 'as it was')
  const id = await driven('ask me', { workspace })
  writeFileSync(file, 'changed by hand')
  return { id, file }
}

it('is recorded as a request before the files change, and as an outcome after', async () => {
  const { id, file } = await changed('plain')
  const looked = await bodyOf(await ask('POST', `/v1/runs/${id}/restore`, { body: { step: 0, dryRun: true } }))
  expect(await restores(id)).toEqual([])
  const body = { step: 0, by: 'ann', reason: 'back to the start' }
  const done = await bodyOf<{ replaced: string; tree: string }>(await ask('POST', `/v1/runs/${id}/restore`, { body }))
  expect(readFileSync(file, 'utf8')).toBe('as it was')
  const [requested, ended, ...none] = await restores(id)
  expect(requested).toMatchObject({
    type: 'restore_requested',
    actor: { kind: 'user', id: 'ann' },
    payload: { tree: done.tree, replaces: looked.replaced, step: 0, reason: 'back to the start' },
  })
  expect(ended).toMatchObject({ type: 'restore_ended', payload: { outcome: 'restored' } })
  expect(none).toEqual([])
})

it('where the request cannot be recorded no file is touched', async () => {
  const { id, file } = await changed('unrecorded')
  const { execute } = services.runtime
  services.runtime.execute = () => Promise.reject(new Error('the log is gone'))
  try {
    expect((await ask('POST', `/v1/runs/${id}/restore`, { body: { step: 0 } })).status).toBe(500)
  } finally {
    services.runtime.execute = execute
  }
  expect(readFileSync(file, 'utf8')).toBe('changed by hand')
})

it('one whose process was lost is finished by the next driver, before the agent goes on', async () => {
  const { id, file } = await changed('lost')
  const { execute } = services.runtime
  services.runtime.execute = (agentId, command, request) =>
    command.kind === 'restore_ended'
      ? Promise.reject(new Error('the process was killed'))
      : execute.call(services.runtime, agentId, command, request)
  try {
    await ask('POST', `/v1/runs/${id}/restore`, { body: { step: 0 } })
  } finally {
    services.runtime.execute = execute
  }
  expect((await restores(id)).map(({ type }) => type)).toEqual(['restore_requested'])
  const shown = await bodyOf<{ restoring: unknown }>(await ask('GET', `/v1/runs/${id}`))
  const [{ payload }] = (await restores(id)) as [Event]
  expect(shown.restoring).toEqual({ step: 0, tree: payload.tree, replaces: payload.replaces })
  const { restoring } = await bodyOf<Shown>(await ask('GET', '/v1/projections'))
  expect(restoring).toMatchObject([{ runId: id, agentId: id, step: 0, tree: payload.tree }])
  expect(checkRestores(restoring.map(({ runId }) => runId))).toMatchObject([
    { check: 'restores', state: 'warning', found: expect.stringContaining(id) },
  ])
  // As a kill in the middle leaves them.
  writeFileSync(file, 'half put back')
  await ask('POST', `/v1/runs/${id}/input`, { body: { text: 'finish it' } })
  await ask('POST', `/v1/runs/${id}/resume`, { body: {} })
  await services.drivers.ended(id)
  expect(readFileSync(file, 'utf8')).toBe('as it was')
  expect((await restores(id)).map(({ payload }) => payload.outcome ?? 'requested')).toEqual(['requested', 'restored'])
  expect(await bodyOf(await ask('GET', `/v1/runs/${id}`))).toMatchObject({ restoring: null })
  expect(await bodyOf<Shown>(await ask('GET', '/v1/projections'))).toMatchObject({ restoring: [] })
  expect(checkRestores([])).toEqual([])
})
