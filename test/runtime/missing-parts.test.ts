import { expect, test } from 'vitest'
import { call, calls, completes, USER } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const signal = new AbortController().signal

async function approvedSend() {
  const send = tool('mail:send', { effect: 'irreversible' })
  const policy = { mode: 'batch', requiresApproval: ['mail:send'] }
  const run = await given({
    says: [calls(call('mail__send')), completes()],
    tools: [send, tool('look')],
    spec: { policy },
  })
  const waiting = { end: 'waiting', for: 'approval', toolCallIds: [run.call(1)] }
  expect(await run.drive()).toEqual(waiting)
  const stranger = run.elsewhere({ hasTool: () => false })
  return { ...run, send, stranger, waiting }
}

test('a process without its tools drives no run: nothing is recorded, and what was approved is done by the one that has them', async () => {
  const run = await approvedSend()
  expect(await run.stranger.drive(run.runId, { signal })).toEqual(run.waiting)
  const toolCallId = run.call(1)
  await run.stranger.execute(run.runId, { kind: 'decide_approval', toolCallId, decision: 'approved' }, { by: USER })
  const before = await run.types()
  const refused = { code: 'TOOLS_MISSING', message: expect.stringContaining('not have: mail:send, look;') }
  await expect(run.stranger.drive(run.runId, { signal })).rejects.toMatchObject(refused)
  const go = { kind: 'resume' } as const
  await expect(run.stranger.execute(run.runId, go, { by: USER, toDrive: true })).rejects.toMatchObject(refused)
  await expect(run.stranger.forkDrivable(run.runId)).rejects.toMatchObject(refused)
  expect(await run.types()).toEqual(before)
  await run.runtime.forkDrivable(run.runId)
  expect(await run.drive()).toEqual({ end: 'done' })
  expect(run.send.ran).toHaveLength(1)
})

test('the acknowledged request for a drive is found again by a process without the tools', async () => {
  const run = await approvedSend()
  await run.say({ kind: 'pause' })
  const request = (key: string) => ({ by: USER, key, toDrive: true })
  const go = { kind: 'resume' } as const
  const { revision } = await run.runtime.execute(run.runId, go, request('K'))
  expect(await run.stranger.execute(run.runId, go, request('K'))).toMatchObject({ revision, recorded: false })
  const refused = { code: 'TOOLS_MISSING' }
  await expect(run.stranger.execute(run.runId, go, request('another'))).rejects.toMatchObject(refused)
  expect((await run.state()).revision).toBe(revision)
})

test('its requested end needs no tool', async () => {
  const dies = new Error('it died')
  const crashPoint = (name: string) => (name === 'before_tool' ? Promise.reject(dies) : undefined)
  const send = tool('mail:send', { effect: 'irreversible' })
  const run = await given({ says: [calls(call('mail__send')), completes()], tools: [send], ports: { crashPoint } })
  await expect(run.drive()).rejects.toBe(dies)
  const stranger = run.elsewhere({ hasTool: () => false, crashPoint: () => undefined })
  await expect(stranger.drive(run.runId, { signal })).rejects.toMatchObject({ code: 'TOOLS_MISSING' })
  await stranger.execute(run.runId, { kind: 'cancel', deadlineMs: 10 }, { by: USER })
  expect((await run.state()).machine.status).not.toBe('ERROR')
  expect(await stranger.drive(run.runId, { signal })).toMatchObject({ end: 'error', code: 'CANCELLED' })
})

test('of an agent that there is not it is said', async () => {
  const { stranger } = await approvedSend()
  await expect(stranger.forkDrivable('unknown')).rejects.toMatchObject({ code: 'RUN_UNKNOWN' })
})

test.each(['requested', 'safeDefault'])(
  'a process without the provider of its %s model drives no run: nothing is recorded',
  async (which) => {
    const run = await given({ says: [completes()] })
    const { known, ...models } = (await run.state()).spec.models
    const [model] = known
    const house = { ...model!, id: 'own:house', provider: 'own' }
    const spec = { models: { ...models, [which]: house.id, known: [...known, house] } }
    const own = await given({ says: [completes()], spec })
    const stranger = own.elsewhere({ hasProvider: (id) => id !== house.id })
    const before = await own.types()
    const refused = { code: 'PROVIDER_MISSING', message: expect.stringContaining('not have: own:house;') }
    await expect(stranger.drive(own.runId, { signal })).rejects.toMatchObject(refused)
    await expect(stranger.forkDrivable(own.runId)).rejects.toMatchObject(refused)
    if (which === 'requested') await stranger.forkDrivable(own.runId, model!.id)
    expect(await own.types()).toEqual(before)
    expect(await own.drive()).toEqual({ end: 'done' })
  },
)
