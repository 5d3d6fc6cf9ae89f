// @module-tag git
import { existsSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { lockWorkspace } from '../../../adapters/workspace/lock.ts'
import { sweep } from '../../../api/process/drives/sweeper.ts'
import { agentOf } from '../../../domain/log/owner.ts'
import { call, calls, toolSpec } from '../../support/harness.ts'
import { given, tool } from '../../support/story.ts'
import { bodyOf, eventsIn, openWorld } from '../support/http.ts'

const world = await openWorld({ autoDrive: true })
afterAll(() => world.close())
const { services } = world

const SWEEPS = 40
const fail = (error: unknown): never => {
  throw error
}

/** The lines that many sweeps write, while the clock goes on by five minutes each. */
async function writtenBySweeps(onNote: (text: string) => void): Promise<string[]> {
  const before = await eventsIn(services)
  const over = new AbortController()
  const from = services.clock.now()
  let sweeps = 0
  const clock = {
    now: () => from + sweeps * 300_000,
    sleep: async () => {
      await Promise.all(before.map(({ header }) => services.drivers.ended(agentOf(header))))
      if (++sweeps === SWEEPS) over.abort()
    },
  }
  const { read, drivers } = services
  await sweep({ read, drivers, clock }, over.signal, fail, onNote)
  const after = await eventsIn(services)
  return after.slice(before.length).map(({ header }) => `${header.agentId} ${header.type}`)
}

it('serve writes nothing to runs that wait for people, in any number of sweeps', async () => {
  const batch = { policy: { mode: 'batch', requiresApproval: ['write_file'] } }
  // Of two calls that conflict the second is not even asked for yet.
  const shared = world.workspace()
  await world.driven('both', { workspace: shared, ...batch })
  await world.driven('both', { workspace: shared, ...batch })
  const asked = (await eventsIn(services)).filter(({ header }) => header.type === 'approval_requested')
  expect(asked.length).toBeGreaterThanOrEqual(2)
  expect(await writtenBySweeps(fail)).toEqual([])
})

it('nor to a run whose folder another one has, which is told once', async () => {
  const workspace = world.workspace()
  const held = lockWorkspace(workspace, world.data, 'other')
  const id = await world.driven('finish', { workspace })
  const notes: string[] = []
  expect(await writtenBySweeps((text) => notes.push(text))).toEqual([])
  expect(notes).toEqual([expect.stringContaining(id)])
  held.release()
  services.drivers.start(id)
  await services.drivers.ended(id)
  expect(services.drivers.state(id).end).toEqual({ end: 'done' })
})

it("nor to a run whose tools are another program's, which is told once, and a caller is told too", async () => {
  const { spec } = (await services.runtime.at(await world.driven('finish'), null)).state
  const tools = [...spec.tools, toolSpec('mail:send')]
  const start = { kind: 'start', spec: { ...spec, tools }, task: 'finish', drive: true } as const
  const id = services.runtime.newRunId()
  await services.runtime.execute(id, start, { by: { kind: 'user', id: 'ada' } })
  const notes: string[] = []
  expect(await writtenBySweeps((text) => notes.push(text))).toEqual([])
  expect(notes).toEqual([expect.stringMatching(`${id}: .*mail:send; the program that has them must drive it$`)])
  for (const path of ['resume', 'step']) {
    const answer = await world.ask('POST', `/v1/runs/${id}/${path}`, { body: {} })
    expect([answer.status, (await bodyOf(answer)).code]).toEqual([409, 'TOOLS_MISSING'])
  }
  const fork = await world.ask('POST', `/v1/runs/${id}/fork`, { body: { drive: true } })
  expect([fork.status, (await bodyOf(fork)).code]).toEqual([409, 'TOOLS_MISSING'])
  expect((await eventsIn(services, id)).map(({ header }) => header.type)).toEqual(['agent_started', 'user_input'])
})

it("what another program's tool left at work is ended where it is to be cancelled, though it was left alone before", async () => {
  const dies = new Error('it died')
  const crashPoint = (name: string) => (name === 'before_tool' ? Promise.reject(dies) : undefined)
  const { log, blobs, drivers, read, clock } = services
  const ports = { log, blobs, clock, crashPoint }
  const left = await given({ says: [calls(call('mail__send'))], tools: [tool('mail:send')], ports })
  await expect(left.drive()).rejects.toBe(dies)
  const missing = async () =>
    (await bodyOf<{ missingTools: string[] }>(await world.ask('GET', `/v1/runs/${left.runId}`))).missingTools
  const over = new AbortController()
  const seen: unknown[] = []
  const sleep = async () => {
    await drivers.ended(left.runId)
    const { end } = drivers.state(left.runId)
    seen.push(end !== null && 'code' in end && end.code)
    if (seen.length === 3) {
      seen.push(await missing())
      await services.runtime.execute(
        left.runId,
        { kind: 'cancel', deadlineMs: 10 },
        { by: { kind: 'user', id: 'ada' } },
      )
      seen.push(await missing())
    }
    if (seen.length === 7) over.abort()
  }
  await sweep({ read, drivers, clock: { now: () => clock.now(), sleep } }, over.signal, fail, () => {})
  expect(seen).toEqual([...Array(3).fill('TOOLS_MISSING'), ['mail:send'], [], ...Array(2).fill('CANCELLED')])
})

it('a run names the models whose providers this process lacks, until its end is asked for', async () => {
  const { log, blobs, clock, runtime } = services
  const { spec } = (await runtime.at(await world.driven('finish'), null)).state
  const { known } = spec.models
  const house = { ...known[0]!, id: 'own:house', provider: 'own' }
  const models = { ...spec.models, requested: house.id, known: [...known, house] }
  const run = await given({ says: [], spec: { models }, ports: { log, blobs, clock } })
  const missing = async () => {
    const answer = await world.ask('GET', `/v1/runs/${run.runId}`)
    const { missingTools, missingProviders } = await bodyOf(answer)
    return { missingTools, missingProviders }
  }
  expect(await missing()).toEqual({ missingTools: [], missingProviders: ['own:house'] })
  await runtime.execute(run.runId, { kind: 'cancel', deadlineMs: 10 }, { by: { kind: 'user', id: 'ada' } })
  expect(await missing()).toEqual({ missingTools: [], missingProviders: [] })
})

it('a resume that was acknowledged is found again without the tools, as it was where they are', async () => {
  const { log, blobs, clock } = services
  const there = await given({
    says: [calls(call('mail__send'))],
    tools: [tool('mail:send')],
    ports: { log, blobs, clock },
  })
  const path = `/v1/runs/${there.runId}/resume`
  await there.say({ kind: 'pause' })
  const resume = async (key: string) => {
    const answer = await world.ask('POST', path, { body: {}, headers: { 'idempotency-key': key } })
    return [answer.status, (await bodyOf(answer)).code]
  }
  await there.say({ kind: 'resume' }, 'K')
  expect(await resume('K')).toEqual([200, undefined])
  expect(await resume('another')).toEqual([409, 'TOOLS_MISSING'])
  await services.drivers.ended(there.runId)
})

it('a fork that is to be driven is refused without the tools also where its source has ended, and nothing is made', async () => {
  const workspace = world.workspace()
  const { spec } = (await services.runtime.at(await world.driven('finish', { workspace }), null)).state
  const tools = [...spec.tools, toolSpec('mail:send')]
  const id = services.runtime.newRunId()
  const by = { kind: 'user', id: 'ada' } as const
  await services.runtime.execute(id, { kind: 'start', spec: { ...spec, tools }, task: 'finish' }, { by })
  await services.runtime.execute(id, { kind: 'cancel', deadlineMs: 10 }, { by })
  const folder = `${workspace}-fork`
  const refusedFork = async () => {
    const before = (await eventsIn(services)).length
    const fork = await world.ask('POST', `/v1/runs/${id}/fork`, { body: { drive: true, workspace: folder } })
    expect([fork.status, (await bodyOf(fork)).code]).toEqual([409, 'TOOLS_MISSING'])
    expect([(await eventsIn(services)).length, existsSync(folder)]).toEqual([before, false])
  }
  await refusedFork()
  services.drivers.start(id)
  await services.drivers.ended(id)
  expect(services.drivers.state(id).end).toMatchObject({ end: 'error', code: 'CANCELLED' })
  await refusedFork()
})

it('a run whose folder another one has is not tried any more when it is paused, as people are told', async () => {
  const workspace = world.workspace()
  const held = lockWorkspace(workspace, world.data, 'other')
  const id = await world.driven('finish', { workspace })
  const tried = async () => (await services.read.due(services.clock.now() + 1e9)).some((one) => one.agentId === id)
  expect(await tried()).toBe(true)
  await world.ask('POST', `/v1/runs/${id}/pause`, { body: {} })
  expect(await tried()).toBe(false)
  held.release()
})
