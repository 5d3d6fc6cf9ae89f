import { afterAll, describe, expect, it } from 'vitest'
import { openServices } from '../../../api/process/open-services.ts'
import { appOver, bodyOf, eventsIn, openWorld } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())
const { ask, started, driven, services, model } = world

const typesOf = async (id: string) => (await eventsIn(services, id)).map((e) => e.header.type)
const count = async (id: string, type: string) => (await typesOf(id)).filter((t) => t === type).length

const HASH = '0'.repeat(64)

describe('starting runs', () => {
  it('records, drives and answers with the revision as ETag', async () => {
    const response = await ask('POST', '/v1/runs', { body: { task: 'finish it', model } })
    expect(response.status).toBe(201)
    const run = await bodyOf<{ runId: string }>(response)
    expect(run).toMatchObject({ revision: 1, driving: true, created: true })
    expect(response.headers.get('etag')).toBe('"1"')
    expect(response.headers.get('location')).toBe(`/v1/runs/${run.runId}`)
    await services.drivers.ended(run.runId)
    const shown = await bodyOf(await ask('GET', `/v1/runs/${run.runId}`))
    expect(shown.run).toMatchObject({ status: 'completed', summary: 'finish it', driving: false })
    expect((shown.run as { bytes: number }).bytes).toBeGreaterThan(500)
    expect(shown.tree).toHaveLength(1)
    expect(shown.position).toContain(services.log.logId)
  })

  it('refuses a context variable whose name is too long, naming it, and records nothing', async () => {
    const start = (length: number) =>
      ask('POST', '/v1/runs', { body: { model, drive: false, contextVariables: { ['k'.repeat(length)]: 1 } } })
    expect((await start(256)).status).toBe(201)
    const before = (await services.log.headCursor())?.position
    const refused = await start(257)
    expect([refused.status, JSON.stringify(await refused.json())]).toEqual([
      400,
      expect.stringMatching(/contextVariables\.k+….*this name cannot be used: .*256 characters/),
    ])
    expect((await services.log.headCursor())?.position).toBe(before)
  })

  it('says that workers drive a run where there may be any, it was started for them, and it has not ended', {
    tags: ['git'],
  }, async () => {
    const shared = appOver({ ...services, holder: 'me' }, model)
    const ended = await driven('finish')
    const waits = await driven('write it', { workspace: world.workspace() })
    const kept = await started('write it', { workspace: world.workspace(), drive: false })
    const told = async ({ ask }: Pick<typeof world, 'ask'>) =>
      Promise.all(
        [ended, waits, kept].map(async (id) => (await bodyOf(await ask('GET', `/v1/runs/${id}`))).workersDrive),
      )
    expect([await told(shared), await told(world)]).toEqual([
      [false, true, false],
      [false, false, false],
    ])
  })

  it('starts once under one key, also after a restart, and refuses the key for something else', async () => {
    const before = await openWorld()
    const headers = { 'idempotency-key': 'hunter2' }
    const body = { task: 'finish it', model, approve: ['write_file'], drive: false }
    const a = await bodyOf<{ runId: string; revision: number }>(await before.ask('POST', '/v1/runs', { body, headers }))
    const again = await before.ask('POST', '/v1/runs', { body, headers })
    expect([again.status, await again.json()]).toEqual([200, { ...a, driving: false, created: false }])
    await before.services.close()
    const after = appOver(await openServices(before.config, 'owner', { autoDrive: false }), model)
    const b = await bodyOf(await after.ask('POST', '/v1/runs', { body, headers }))
    expect(b.runId).toBe(a.runId)
    const types = (await eventsIn(after.services, a.runId)).map((e) => e.header.type)
    expect(types).toEqual(['agent_started', 'user_input', 'standing_approval'])
    expect(JSON.stringify(await eventsIn(after.services, a.runId))).not.toContain('hunter2')
    const other = await after.ask('POST', '/v1/runs', { body: { ...body, task: 'other' }, headers })
    expect([other.status, (await bodyOf(other)).code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
    await after.services.close()
    await before.close()
  })

  it('starts once where the same request comes many times at once, and says so once', async () => {
    const own = await openWorld()
    const headers = { 'idempotency-key': 'many' }
    const ask20 = (task: (i: number) => string) =>
      Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          own.ask('POST', '/v1/runs', {
            body: { task: task(i), model, drive: false, approve: ['write_file'] },
            headers,
          }),
        ),
      )
    const answers = await ask20(() => 'finish it')
    const started = await Promise.all(answers.map((answer) => bodyOf<{ runId: string; created: boolean }>(answer)))
    expect(new Set(started.map(({ runId }) => runId)).size).toBe(1)
    expect(started.filter(({ created }) => created)).toHaveLength(1)
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201])
    headers['idempotency-key'] = 'differing'
    const differing = await ask20((i) => (i % 2 === 0 ? 'this' : 'that'))
    const codes = await Promise.all(differing.map(async (answer) => (await bodyOf<{ code?: string }>(answer)).code))
    expect(codes.filter((code) => code === undefined)).toHaveLength(10)
    expect(codes.filter((code) => code === 'IDEMPOTENCY_KEY_REUSED')).toHaveLength(10)
    await own.close()
  })

  it('records who said what, marked as claimed', async () => {
    const id = await started('finish', { by: 'ada', drive: false })
    const [first] = await eventsIn(services, id)
    expect(first!.header.actor).toEqual({ kind: 'user', id: 'ada', claimed: true })
  })

  it("records the caller's correlation id and trace context with all that follows", async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const headers = { 'x-correlation-id': 'order-4711', traceparent }
    const body = { task: 'finish it', model }
    const { runId } = await bodyOf<{ runId: string }>(await ask('POST', '/v1/runs', { body, headers }))
    await services.drivers.ended(runId)
    const all = (await eventsIn(services, runId)).map((e) => e.header)
    expect(new Set(all.map((h) => h.correlationId))).toEqual(new Set(['order-4711']))
    expect(all[0]).toMatchObject({ trace: traceparent })
    const bad = await ask('POST', '/v1/runs', { body, headers: { 'x-correlation-id': 'a b' } })
    expect([bad.status, (await bodyOf(bad)).code]).toEqual([400, 'INVALID_REQUEST'])
  })

  it('lists in pages, by status and by prefix', async () => {
    const ids = [
      await started('one', { drive: false }),
      await started('two', { drive: false }),
      await started('three', { drive: false }),
    ]
    type Page = { runs: { runId: string; status: string }[]; next: string | null }
    const runIds = (page: Page) => page.runs.map((r) => r.runId)
    const first = await bodyOf<Page>(await ask('GET', '/v1/runs?limit=2'))
    const second = await bodyOf<Page>(await ask('GET', `/v1/runs?limit=1&after=${first.next}`))
    expect([...runIds(first), ...runIds(second)]).toEqual(ids.toReversed())
    expect(runIds(await bodyOf<Page>(await ask('GET', `/v1/runs?prefix=${ids[1]}`)))).toEqual([ids[1]])
    const common = ids[0]!.slice(0, 5)
    const some = await bodyOf<Page>(await ask('GET', `/v1/runs?prefix=${common}&limit=2`))
    const more = await bodyOf<Page>(await ask('GET', `/v1/runs?prefix=${common}&limit=1&after=${some.next}`))
    expect([...runIds(some), ...runIds(more)]).toEqual(ids.toReversed())
    for (const none of [`${ids[1]}0`, ids[1]!.slice(1), '%25', '_'])
      expect(runIds(await bodyOf<Page>(await ask('GET', `/v1/runs?prefix=${none}`)))).toEqual([])
    const done = await bodyOf<Page>(await ask('GET', '/v1/runs?status=completed'))
    expect(new Set(done.runs.map((r) => r.status))).toEqual(new Set(['completed']))
    expect((await ask('GET', '/v1/runs?status=sleeping')).status).toBe(400)
  })
})

describe('commands', () => {
  it('honour If-Match', async () => {
    const id = await started('wait', { drive: false })
    const say = (headers: Record<string, string>) =>
      ask('POST', `/v1/runs/${id}/input`, { body: { text: 'hi' }, headers })
    const stale = await say({ 'if-match': '"0"' })
    expect([stale.status, (await bodyOf(stale)).code]).toEqual([412, 'REVISION_CHANGED'])
    const done = await say({ 'if-match': '"1"' })
    expect([done.status, done.headers.get('etag')]).toEqual([200, '"2"'])
    expect((await say({ 'if-match': '"1"' })).status).toBe(412)
    expect((await say({ 'if-match': '1' })).status).toBe(400)
    // Of many at once, one is at that revision.
    const many = await Promise.all(Array.from({ length: 8 }, () => say({ 'if-match': '"2"' })))
    expect(many.map((r) => r.status).sort()).toEqual([200, ...Array(7).fill(412)])
  })

  it('are recorded once under one key', async () => {
    const id = await started('wait', { drive: false })
    const headers = { 'idempotency-key': 'k', 'if-match': '"1"' }
    const say = (text: string) => ask('POST', `/v1/runs/${id}/input`, { body: { text }, headers })
    expect(await (await say('hi')).json()).toEqual(await (await say('hi')).json())
    expect(await count(id, 'user_input')).toBe(2)
    expect((await say('other')).status).toBe(422)
  })

  it('are refused under the key of another one also after a restart', async () => {
    const before = await openWorld()
    const id = await before.started('wait', { drive: false })
    const headers = { 'idempotency-key': 'K' }
    const post = async (app: Pick<typeof before, 'ask'>, what: string, body: object) => {
      const answer = await app.ask('POST', `/v1/runs/${id}/${what}`, { body, headers })
      return [answer.status, (await bodyOf<{ code?: string }>(answer)).code]
    }
    expect(await post(before, 'pause', {})).toEqual([200, undefined])
    await before.services.close()
    const after = appOver(await openServices(before.config, 'owner', { autoDrive: false }), model)
    expect(await post(after, 'pause', {})).toEqual([200, undefined])
    expect(await post(after, 'resume', {})).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
    expect(await post(after, 'input', { text: 'other' })).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
    await after.services.close()
    await before.close()
  })

  it('pause, resume, step and cancel what is driven', { tags: ['git'] }, async () => {
    const id = await started('wait', { workspace: world.workspace() })
    const post = async (what: string, body = {}) => (await ask('POST', `/v1/runs/${id}/${what}`, { body })).status
    expect(await post('pause')).toBe(200)
    await services.drivers.ended(id)
    const paused = { driving: false, end: { end: 'waiting', for: 'pause' } }
    expect(services.drivers.state(id)).toMatchObject(paused)
    const turns = await count(id, 'turn_end')
    expect(await post('step')).toBe(200)
    await services.drivers.ended(id)
    expect(services.drivers.state(id)).toMatchObject(paused)
    expect(await count(id, 'turn_end')).toBe(turns + 1)
    expect(await post('resume')).toBe(200)
    expect(services.drivers.state(id).driving).toBe(true)
    expect(await post('cancel', { reason: 'enough' })).toBe(200)
    await services.drivers.ended(id)
    expect(services.drivers.state(id).end).toMatchObject({ end: 'error', code: 'CANCELLED' })
    expect(await post('input', { text: 'more' })).toBe(409)
  })

  it('say what is unknown', async () => {
    const id = await driven('finish')
    for (const [method, path, body] of [
      ['POST', '/v1/runs/nope/input', { text: 'x' }],
      ['POST', '/v1/runs/nope/restore', { step: 1 }],
      ['POST', '/v1/runs/nope/erase', { revision: 1, reason: 'x' }],
      ['GET', '/v1/runs/nope', undefined],
      ['GET', '/v1/runs/nope/events', undefined],
      ['GET', `/v1/runs/${id}/events?agent=nope`, undefined],
      ['GET', '/v1/runs/nope/state', undefined],
      ['GET', `/v1/runs/${id}/state?step=99`, undefined],
      ['GET', '/v1/runs/nope/verify', undefined],
      ['GET', '/v1/runs/nope/export', undefined],
      ['GET', '/v1/runs/nope/live', undefined],
      ['GET', '/v1/approvals/nope.t1.c0', undefined],
      ['POST', '/v1/approvals/nope', { decision: 'approved', questionHash: HASH }],
      ['GET', '/v1/agents/nope/checkpoints/1', undefined],
    ] as const) {
      const response = await ask(method, path, body ? { body } : {})
      expect([path, response.status]).toEqual([path, 404])
    }
  })

  it('are all refused where the process only reads; reading works beside the owner', async () => {
    const id = await driven('finish')
    await services.read.caughtUp()
    const reader = await openServices(world.config, 'reader', { autoDrive: false })
    const beside = appOver(reader!, model)
    for (const [method, path, body] of [
      ['POST', '/v1/runs', { task: 'x' }],
      ['POST', '/v1/runs/r/input', { text: 'x' }],
      ['POST', '/v1/runs/r/cancel', {}],
      ['POST', '/v1/runs/r/erase', { revision: 1, reason: 'x' }],
      ['POST', '/v1/runs/r/restore', { step: 1 }],
      ['POST', '/v1/runs/r/fork', {}],
      ['POST', '/v1/approvals/r.t1.c0', { decision: 'approved', questionHash: HASH }],
      ['POST', '/v1/doubts/r.t1.c0', { decision: 'run', questionHash: HASH }],
      ['POST', '/v1/projections/rebuild', {}],
      ['POST', '/v1/backup', { folder: '/nowhere' }],
      ['PUT', '/v1/secrets/A', { value: 'x' }],
    ] as const) {
      const response = await beside.ask(method, path, { body })
      expect([path, (await bodyOf(response)).code]).toEqual([path, 'READ_ONLY'])
    }
    expect((await bodyOf(await beside.ask('GET', `/v1/runs/${id}`))).run).toMatchObject({ status: 'completed' })
    await reader!.close()
  })
})

describe('a process that drives by itself', () => {
  it('leaves alone a run that was not asked to be driven, whatever is said to it', async () => {
    const own = await openWorld({ autoDrive: true })
    const post = async (path: string, body: object) =>
      bodyOf<{ runId: string; driving: boolean }>(await own.ask('POST', `/v1/runs/${path}`, { body }))
    const held = await own.started('finish', { drive: false })
    const source = await own.driven('finish')
    const fork = (await post(`${source}/fork`, { step: 1, drive: false })).runId
    for (const id of [held, fork]) {
      expect((await post(`${id}/input`, { text: 'go on' })).driving).toBe(false)
      await own.services.read.caughtUp()
      expect((await own.services.read.due(Number.MAX_SAFE_INTEGER)).map((due) => due.agentId)).not.toContain(id)
      expect((await post(`${id}/resume`, {})).driving).toBe(true)
      await own.services.drivers.ended(id)
    }
    const ended = await own.started('finish', { drive: false })
    expect((await post(`${ended}/cancel`, {})).driving).toBe(true)
    await own.services.drivers.ended(ended)
    const waits = await own.started('finish', { drive: true })
    await own.services.drivers.ended(waits)
    await own.close()
  })

  it('finds after a restart what was to be driven and had no turn yet', async () => {
    const own = await openWorld()
    const { runtime, read } = own.services
    const { spec } = (await runtime.at(await own.started('finish', { drive: false }), null)).state
    const runId = runtime.newRunId()
    await runtime.execute(runId, { kind: 'start', spec, task: 'x', drive: true }, { by: { kind: 'user', id: 'a' } })
    await read.caughtUp()
    expect((await read.due(Number.MAX_SAFE_INTEGER)).map((due) => due.agentId)).toEqual([runId])
    await own.close()
  })
})
