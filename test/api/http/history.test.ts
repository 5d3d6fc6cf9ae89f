import { readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openServices } from '../../../api/process/open-services.ts'
import { appOver, bodyOf, eventsIn, openWorld } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())
const { ask, started, driven, services } = world

interface EventPage {
  events: { type: string; payload: object; agentId: string; turn: number; cursor: string }[]
  next: string | null
}

it('pages through events, with the arguments of calls', async () => {
  const id = await driven('finish it')
  // Others write to the same log meanwhile.
  await driven('finish another')
  const types: string[] = []
  let next: string | null = ''
  let call: unknown
  let person: unknown
  while (next !== null) {
    const answer: Response = await ask('GET', `/v1/runs/${id}/events?limit=1${next && `&after=${next}`}`)
    const page: EventPage = await bodyOf<EventPage>(answer)
    for (const event of page.events) {
      types.push(event.type)
      if (event.type === 'tool_call_start') call = event.payload
      if (event.type === 'user_input') person = [event.agentId, event.turn]
    }
    next = page.next
  }
  expect(types).toEqual((await eventsIn(services, id)).map((e) => e.header.type))
  // One event a page and a reader each: the arguments had to be found by going back.
  expect(call).toMatchObject({ toolName: 'complete_task', attempt: 1, arguments: { summary: 'finish it' } })
  expect(person).toEqual(['user:anonymous', 0])
  const one = await bodyOf<EventPage>(await ask('GET', `/v1/runs/${id}/events?agent=${id}&limit=500`))
  expect(one.events.map((e) => e.type)).toEqual(types)
  expect((await ask('GET', `/v1/runs/${id}/events?after=x`)).status).toBe(400)
})

it('gives the state at one point, and the difference of two', { tags: ['git'] }, async () => {
  const id = await driven('write it', { workspace: world.workspace(), approve: ['write_file'] })
  const at = await ask('GET', `/v1/runs/${id}/state?event=2`)
  expect(at.headers.get('etag')).toBe('"2"')
  expect(await at.json()).toMatchObject({ agentId: id, revision: 2, machineState: 'IDLE' })
  const end = await bodyOf(await ask('GET', `/v1/runs/${id}/state`))
  expect(end).toMatchObject({ machineState: 'DONE' })
  expect(JSON.stringify(end)).not.toContain('hashSalt')
  expect((await ask('GET', `/v1/runs/${id}/state?event=2&step=1`)).status).toBe(400)
  expect(await bodyOf(await ask('GET', `/v1/runs/${id}/state?step=0`))).toMatchObject({ revision: 0 })
  const diff = await bodyOf(await ask('GET', `/v1/runs/${id}/diff?a=0&b=${id}:2`))
  expect(diff.messages).toMatchObject({ common: 0, onlyA: [], onlyB: [{ role: 'user' }, {}, {}] })
  expect(diff.files).toMatchObject({ changes: [{ path: 'hello.txt', change: 'added' }] })
  const onlyFiles = await bodyOf(await ask('GET', `/v1/runs/${id}/diff?a=0&b=${id}:2&only=files`))
  expect(onlyFiles).toMatchObject({ state: [], messages: { onlyA: [], onlyB: [] }, files: diff.files })
  expect((await ask('GET', `/v1/runs/${id}/diff?a=0&b=x`)).status).toBe(400)
})

it('puts the files of a step back and keeps what it replaced', { tags: ['git'] }, async () => {
  const id = await driven('write it', { workspace: world.workspace(), approve: ['write_file'] })
  expect(await services.files.current(id, 'hello.txt')).toMatchObject({ path: 'hello.txt', text: 'hello\n' })
  const restore = async (body: object) => ask('POST', `/v1/runs/${id}/restore`, { body })
  const looked = await bodyOf(await restore({ step: 0, dryRun: true }))
  const changes = [{ path: 'hello.txt', change: 'deleted' }]
  expect(looked).toMatchObject({ runId: id, dryRun: true, replaced: expect.stringMatching(/^[0-9a-f]{64}$/), changes })
  expect(await services.files.current(id, 'hello.txt')).toMatchObject({ path: 'hello.txt', text: 'hello\n' })
  const stale = await restore({ step: 0, expected: '0'.repeat(64) })
  expect([stale.status, (await bodyOf(stale)).code]).toEqual([409, 'FILES_CHANGED'])
  const { replaced, ...done } = await bodyOf(await restore({ step: 0, expected: looked.replaced }))
  expect({ replaced, ...done }).toEqual({ ...looked, dryRun: false })
  expect(await services.files.current(id, 'hello.txt')).toMatchObject({ path: 'hello.txt', text: null })
  const back = await bodyOf(await restore({ tree: replaced }))
  expect(back).toMatchObject({ tree: replaced, changes: [{ path: 'hello.txt', change: 'added' }] })
  expect(await services.files.current(id, 'hello.txt')).toMatchObject({ path: 'hello.txt', text: 'hello\n' })
  for (const body of [{}, { step: 0, tree: replaced }, { tree: 'HEAD' }]) expect((await restore(body)).status).toBe(400)
  const unknown = await restore({ tree: '1'.repeat(64) })
  expect([unknown.status, (await bodyOf(unknown)).code]).toEqual([409, 'RESOURCE_NOT_FOUND'])
})

it('forks, verifies and exports', async () => {
  const id = await driven('finish it')
  const fork = await ask('POST', `/v1/runs/${id}/fork`, { body: { step: 1, drive: false } })
  const { runId } = await bodyOf<{ runId: string }>(fork)
  expect([fork.status, runId === id]).toEqual([201, false])
  expect([fork.headers.get('etag'), fork.headers.get('location')]).toEqual(['"0"', `/v1/runs/${runId}`])
  expect((await bodyOf(await ask('GET', `/v1/runs/${runId}`))).run).toMatchObject({ source: { agentId: id, step: 1 } })
  expect(await bodyOf(await ask('GET', `/v1/runs/${id}/verify`))).toMatchObject({ ok: true, agents: [{ agentId: id }] })
  const lines = (await (await ask('GET', `/v1/runs/${id}/export`)).text()).trim().split('\n')
  expect(JSON.parse(lines[0]!)).toMatchObject({ export: 1, runId: id, streams: [{ stream: `agent-${id}` }] })
  expect(lines.length - 1).toBe((await eventsIn(services, id)).length)
})

it('forks once under one key, also after a restart, and refuses the key for something else', {
  tags: ['git'],
}, async () => {
  const before = await openWorld()
  const workspace = before.workspace()
  const id = await before.driven('finish', { workspace })
  const headers = { 'idempotency-key': 'f' }
  const fork = (app: typeof before, body: object) => app.ask('POST', `/v1/runs/${id}/fork`, { body, headers })
  const many = await Promise.all(Array.from({ length: 5 }, () => fork(before, { step: 1, drive: false })))
  expect(many.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201])
  const [{ runId } = { runId: '' }] = await Promise.all(many.map((one) => bodyOf<{ runId: string }>(one)))
  const list = await bodyOf<{ runs: { runId: string }[] }>(await before.ask('GET', '/v1/runs'))
  expect(list.runs.map((run) => run.runId).sort()).toEqual([id, runId].sort())
  await before.services.close()
  const after = {
    ...before,
    ...appOver(await openServices(before.config, 'owner', { autoDrive: false }), before.model),
  }
  expect(await bodyOf(await fork(after, { step: 1, drive: false }))).toMatchObject({ runId, created: false })
  const other = await fork(after, { step: 2 })
  expect([other.status, (await bodyOf(other)).code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
  // One folder of its own, beside that of the source.
  const folders = readdirSync(dirname(workspace)).filter((name) => name.startsWith(`${basename(workspace)}-`))
  expect(folders).toHaveLength(1)
  await after.services.close()
  await before.close()
})

it('a fork may have another budget', async () => {
  const id = await driven('finish')
  const budget = { tokens: 12_345, nanoDollars: null }
  const made = await ask('POST', `/v1/runs/${id}/fork`, { body: { step: 1, drive: false, budget: { tokens: 12_345 } } })
  const { runId } = await bodyOf<{ runId: string }>(made)
  const at = await bodyOf(await ask('GET', `/v1/runs/${runId}/state`))
  expect(at).toMatchObject({ spec: { budget } })
  const wrong = await ask('POST', `/v1/runs/${id}/fork`, { body: { budget: { tokens: 0 } } })
  expect(wrong.status).toBe(400)
})

it('a look after a command shows what it recorded', async () => {
  const id = await driven('finish')
  const { read } = services
  const { runId } = await bodyOf<{ runId: string }>(
    await ask('POST', `/v1/runs/${id}/fork`, { body: { drive: false } }),
  )
  expect((await read.runs({ limit: 1 })).value.runs[0]?.runId).toBe(runId)
  const begun = await ask('POST', '/v1/runs', { body: { model: world.model, drive: false } })
  const { runId: waits } = await bodyOf<{ runId: string }>(begun)
  expect((await read.run(waits)).value?.run.waiting).toMatchObject([{ for: 'input' }])
  await ask('POST', `/v1/runs/${waits}/input`, { body: { text: 'go on' } })
  expect((await read.run(waits)).value?.run.waiting).toEqual([])
})

it('erases a body of a finished run, which the proof tells from a broken one', async () => {
  const open = await started('wait', { drive: false })
  const erase = (id: string, body: object) => ask('POST', `/v1/runs/${id}/erase`, { body })
  const early = await erase(open, { revision: 1, reason: 'private' })
  expect([early.status, (await bodyOf(early)).code]).toEqual([409, 'RUN_ACTIVE'])
  const id = await driven('finish my private matter')
  expect((await erase(id, { revision: 1, reason: ' ' })).status).toBe(400)
  expect((await erase(id, { revision: 99, reason: 'x' })).status).toBe(404)
  const before = await bodyOf<{ run: { revision: number } }>(await ask('GET', `/v1/runs/${id}`))
  const dry = await bodyOf(await erase(id, { revision: 1, reason: 'private', dryRun: true }))
  expect(dry).toMatchObject({ runId: id, revision: before.run.revision, dryRun: true })
  expect(dry.bodies).toEqual([{ agentId: id, revision: 1, type: 'user_input', turn: 0, size: expect.any(Number) }])
  const other = { body: { all: true, reason: 'x', dryRun: true }, headers: { 'if-match': '"1"' } }
  expect((await ask('POST', `/v1/runs/${id}/erase`, other)).status).toBe(412)
  expect((await erase(id, { revision: 99, reason: 'x', dryRun: true })).status).toBe(404)
  const erased = await erase(id, { revision: 1, reason: 'private', by: 'ada' })
  expect(erased.status).toBe(200)
  const { revision } = await bodyOf<{ revision: number }>(erased)
  // Again: nothing is left to do.
  expect(await bodyOf(await erase(id, { revision: 1, reason: 'again' }))).toMatchObject({ revision })
  expect(await bodyOf(await erase(id, { revision: 1, reason: 'x', dryRun: true }))).toMatchObject({ bodies: [] })
  const stale = { body: { revision: 2, reason: 'x' }, headers: { 'if-match': `"${revision - 1}"` } }
  expect((await ask('POST', `/v1/runs/${id}/erase`, stale)).status).toBe(412)
  const proof = await bodyOf<{ ok: boolean; agents: object[] }>(await ask('GET', `/v1/runs/${id}/verify`))
  expect(proof).toMatchObject({ ok: true, agents: [{ erased: [{ revision: 1, code: 'other', reason: 'private' }] }] })
  expect((await bodyOf(await ask('GET', `/v1/runs/${id}`))).run).toMatchObject({ task: '[erased]' })
  const { events } = await bodyOf<EventPage>(await ask('GET', `/v1/runs/${id}/events`))
  expect(events[1]).toMatchObject({ type: 'user_input', erased: true, payload: null })
  expect(events.at(-1)).toMatchObject({ type: 'erased', agentId: 'user:ada' })
  const state = await ask('GET', `/v1/runs/${id}/state`)
  expect(await bodyOf(state)).toMatchObject({
    state: { messages: [{ role: 'user', content: '[erased]' }, {}, {}] },
  })
})

it('has health, projections, secrets without values', async () => {
  const health = await world.http.request('http://localhost/v1/health')
  expect(await health.json()).toMatchObject({ ok: true, logId: services.log.logId })
  expect(await bodyOf(await ask('POST', '/v1/projections/rebuild'))).toEqual({
    events: expect.any(Number),
    equal: true,
    switched: true,
    differences: [],
  })
  const set = await ask('PUT', '/v1/secrets/API_KEY', { body: { value: 'hush-hush-hush' } })
  expect(await set.text()).not.toContain('hush')
  expect(await bodyOf(await ask('GET', '/v1/secrets'))).toEqual({ names: ['API_KEY'] })
  expect((await ask('PUT', '/v1/secrets/SHORT', { body: { value: 'x' } })).status).toBe(422)
  const word = await bodyOf(await ask('PUT', '/v1/secrets/WORD', { body: { value: 'Password' } }))
  expect(word).toEqual({
    names: ['API_KEY', 'WORD'],
    warning: expect.stringMatching(/^the value of WORD is not hidden.*set a longer/),
  })
  const granting = { task: 'finish', secrets: ['WORD'], drive: false, policy: { sandboxed: false } }
  expect(await bodyOf(await ask('POST', '/v1/runs', { body: granting }))).toMatchObject({ code: 'SECRET_UNHIDABLE' })
  await ask('DELETE', '/v1/secrets/WORD')
  expect(await bodyOf(await ask('DELETE', '/v1/secrets/API_KEY'))).toEqual({ names: [] })
  expect((await ask('DELETE', '/v1/secrets/API_KEY')).status).toBe(404)
  expect((await ask('PUT', '/v1/secrets/not%20a%20name', { body: { value: 'x' } })).status).toBe(400)
})
