import { describe, expect, it } from 'vitest'
import { bodyOf, testApp } from './http-support.ts'

interface EventPage {
  events: { type: string; payload: object; agentId: string; turn: number }[]
  next: string | null
}

describe('starting runs', () => {
  it('records, drives and answers with the revision as ETag', async () => {
    const { ask, services } = testApp()
    const response = await ask('POST', '/v1/runs', { body: { task: 'finish it' } })
    expect(response.status).toBe(201)
    const started = (await response.json()) as { runId: string; revision: number; driving: boolean }
    expect(started).toMatchObject({ revision: 1, driving: true, created: true })
    expect(response.headers.get('etag')).toBe('"1"')
    expect(response.headers.get('location')).toBe(`/v1/runs/${started.runId}`)
    await services.drivers.ended(started.runId)
    const shown = await bodyOf(await ask('GET', `/v1/runs/${started.runId}`))
    expect(shown.run).toMatchObject({ status: 'completed', summary: 'finish it', driving: false, bytes: 1024 })
    expect(shown.tree).toHaveLength(1)
    expect(shown.position).toContain('fakelog~')
  })

  it('starts once under one key, also after a restart, and refuses the key for something else', async () => {
    const first = testApp()
    const headers = { 'idempotency-key': 'k1' }
    const body = { task: 'finish it', approve: ['write_file'], drive: false }
    const a = await bodyOf(await first.ask('POST', '/v1/runs', { body, headers }))
    const again = await first.ask('POST', '/v1/runs', { body, headers })
    expect(again.status).toBe(200)
    expect(await again.json()).toMatchObject({ runId: a.runId, revision: a.revision, created: false })
    const restarted = testApp({ log: first.services.log })
    const b = await bodyOf(await restarted.ask('POST', '/v1/runs', { body, headers }))
    expect(b.runId).toBe(a.runId)
    expect(first.services.log.all.filter((e) => e.header.type === 'agent_started')).toHaveLength(1)
    expect(first.services.log.all.filter((e) => e.header.type === 'standing_approval')).toHaveLength(1)
    const other = await restarted.ask('POST', '/v1/runs', { body: { ...body, task: 'other' }, headers })
    expect([other.status, (await bodyOf(other)).code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
  })

  it('records who said what, marked as claimed', async () => {
    const { ask, services } = testApp()
    await ask('POST', '/v1/runs', { body: { task: 'finish', by: 'ada', drive: false } })
    expect(services.log.all[0]!.header.actor).toEqual({ kind: 'user', id: 'ada', claimed: true })
  })

  it('does not start what prepare refuses', async () => {
    const { ask, services } = testApp()
    const response = await ask('POST', '/v1/runs', { body: { task: 'x', role: 'nobody' } })
    expect([response.status, (await bodyOf(response)).code]).toEqual([422, 'UNKNOWN_ROLE'])
    expect(services.log.all).toEqual([])
  })

  it('lists in pages and by prefix', async () => {
    const { ask, started } = testApp()
    const ids = [
      await started('one', { drive: false }),
      await started('two', { drive: false }),
      await started('three', { drive: false }),
    ]
    const first = await bodyOf(await ask('GET', '/v1/runs?limit=2'))
    const second = await bodyOf(await ask('GET', `/v1/runs?limit=2&after=${first.next}`))
    const runIds = (page: { runs: { runId: string }[] }) => page.runs.map((r) => r.runId)
    expect([...runIds(first as never), ...runIds(second as never)]).toEqual(ids.toReversed())
    expect(second.next).toBeNull()
    const one = await bodyOf(await ask('GET', `/v1/runs?prefix=${ids[1]}`))
    expect(runIds(one as never)).toEqual([ids[1]])
  })
})

describe('commands', () => {
  it('honour If-Match', async () => {
    const { ask, started } = testApp()
    const id = await started('hang', { drive: false })
    const say = (headers: Record<string, string>) =>
      ask('POST', `/v1/runs/${id}/input`, { body: { text: 'hi' }, headers })
    expect((await say({ 'if-match': '"0"' })).status).toBe(412)
    const done = await say({ 'if-match': '"1"' })
    expect([done.status, done.headers.get('etag')]).toEqual([200, '"2"'])
    expect((await say({ 'if-match': '"1"' })).status).toBe(412)
    expect((await say({ 'if-match': '1' })).status).toBe(400)
  })

  it('are recorded once under one key', async () => {
    const { ask, started, services } = testApp()
    const id = await started('hang', { drive: false })
    const headers = { 'idempotency-key': 'k' }
    const say = (text: string) => ask('POST', `/v1/runs/${id}/input`, { body: { text }, headers })
    expect(await (await say('hi')).json()).toEqual(await (await say('hi')).json())
    expect(services.log.all.filter((e) => e.header.type === 'user_input')).toHaveLength(2)
    expect((await say('other')).status).toBe(422)
  })

  it('pause, resume, step and cancel what is driven', async () => {
    const { ask, started, services } = testApp()
    const id = await started('hang')
    const post = async (what: string, body = {}) => (await ask('POST', `/v1/runs/${id}/${what}`, { body })).status
    expect(await post('pause')).toBe(200)
    await services.drivers.ended(id)
    expect(services.drivers.state(id)).toMatchObject({ driving: false, end: { end: 'waiting', for: 'pause' } })
    expect(await post('resume')).toBe(200)
    expect(services.drivers.state(id).driving).toBe(true)
    expect(await post('cancel', { reason: 'enough' })).toBe(200)
    await services.drivers.ended(id)
    expect(services.drivers.state(id).end).toMatchObject({ end: 'error', code: 'CANCELLED' })
    expect(await post('input', { text: 'more' })).toBe(409)
  })

  it('say what is unknown', async () => {
    const { ask } = testApp()
    for (const [method, path, body] of [
      ['POST', '/v1/runs/nope/input', { text: 'x' }],
      ['POST', '/v1/runs/nope/restore', { step: 1 }],
      ['GET', '/v1/runs/nope', undefined],
      ['GET', '/v1/runs/nope/events', undefined],
      ['GET', '/v1/runs/nope/state', undefined],
      ['GET', '/v1/runs/nope/verify', undefined],
      ['GET', '/v1/runs/nope/export', undefined],
      ['GET', '/v1/runs/nope/live', undefined],
      ['GET', '/v1/approvals/nope.t1.c0', undefined],
      ['POST', '/v1/approvals/nope', { decision: 'approved' }],
      ['GET', '/v1/agents/nope/checkpoints/1', undefined],
    ] as const) {
      const response = await ask(method, path, body ? { body } : {})
      expect([path, response.status, (await bodyOf(response)).code]).toEqual([path, 404, 'NOT_FOUND'])
    }
  })

  it('are all refused where the process only reads', async () => {
    const { ask } = testApp({ readOnly: true })
    for (const [method, path, body] of [
      ['POST', '/v1/runs', { task: 'x' }],
      ['POST', '/v1/runs/r/input', { text: 'x' }],
      ['POST', '/v1/runs/r/cancel', {}],
      ['POST', '/v1/runs/r/restore', { step: 1 }],
      ['POST', '/v1/runs/r/fork', {}],
      ['POST', '/v1/approvals/r.t1.c0', { decision: 'approved' }],
      ['POST', '/v1/doubts/r.t1.c0', { decision: 'run' }],
      ['POST', '/v1/projections/rebuild', {}],
      ['POST', '/v1/backup', { folder: '/nowhere' }],
      ['PUT', '/v1/secrets/A', { value: 'x' }],
    ] as const) {
      const response = await ask(method, path, { body })
      expect([path, (await bodyOf(response)).code]).toEqual([path, 'READ_ONLY'])
    }
  })
})

describe('approvals', () => {
  it('show the diff, bind to the arguments, and are decided once', async () => {
    const { ask, started, services } = testApp()
    const id = await started('write it')
    await services.drivers.ended(id)
    const waiting = await bodyOf(await ask('GET', '/v1/approvals'))
    expect(waiting.approvals).toHaveLength(1)
    const { toolCallId, argumentsHash } = (waiting.approvals as { toolCallId: string; argumentsHash: string }[])[0]!
    const shown = await bodyOf(await ask('GET', `/v1/approvals/${toolCallId}`))
    expect(shown.preview).toMatchObject({ kind: 'diff', text: expect.stringContaining('-before\n+hello') })
    const decide = async (hash: string) => {
      const body = { decision: 'approved', argumentsHash: hash, by: 'ada' }
      const response = await ask('POST', `/v1/approvals/${toolCallId}`, { body })
      return [response.status, (await bodyOf(response)).code]
    }
    expect(await decide('0'.repeat(64))).toEqual([409, 'ARGUMENTS_CHANGED'])
    expect((await decide(argumentsHash))[0]).toBe(200)
    expect(await decide(argumentsHash)).toEqual([409, 'NOT_PENDING'])
    expect(services.drivers.state(id).driving).toBe(false)
    expect(services.log.all.at(-1)!.header.actor).toEqual({ kind: 'approver', id: 'ada', claimed: true })
    expect((await bodyOf(await ask('GET', '/v1/approvals'))).approvals).toEqual([])
    const { events } = await bodyOf<EventPage>(await ask('GET', `/v1/runs/${id}/events`))
    expect(events.at(-1)).toMatchObject({ type: 'approval_decided', agentId: 'user:ada', turn: 0, toolCallId })
  })

  it('wake their run where the process drives by itself', async () => {
    const { ask, started, services } = testApp({ autoDrive: true })
    const id = await started('write it')
    await services.drivers.ended(id)
    await ask('POST', `/v1/approvals/${id}.t1.c0`, { body: { decision: 'rejected' } })
    await services.drivers.ended(id)
    expect(services.drivers.state(id).end).toEqual({ end: 'done' })
  })
})

describe('history', () => {
  it('pages through events, with the arguments of calls', async () => {
    const { ask, started, services } = testApp()
    const id = await started('finish it')
    await services.drivers.ended(id)
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
    expect(types).toEqual(services.log.all.map((e) => e.header.type))
    // One event a page and a reader each: the arguments had to be found by going back.
    expect(call).toMatchObject({ toolName: 'complete_task', attempt: 1, arguments: { summary: 'finish it' } })
    expect(person).toEqual(['user:anonymous', 0])
  })

  it('gives the state at one point, and the difference of two', async () => {
    const { ask, started, services } = testApp()
    const id = await started('finish it')
    await services.drivers.ended(id)
    const at = await ask('GET', `/v1/runs/${id}/state?event=2`)
    expect(at.headers.get('etag')).toBe('"2"')
    expect(await at.json()).toMatchObject({ agentId: id, revision: 2, state: { status: 'THINKING' } })
    expect((await ask('GET', `/v1/runs/${id}/state?event=2&step=1`)).status).toBe(400)
    const diff = await bodyOf(await ask('GET', `/v1/runs/${id}/diff?a=0&b=${id}:2`))
    expect(diff.messages).toMatchObject({ common: 0, onlyA: [], onlyB: [{ role: 'user' }] })
    expect(diff.files).toBeNull()
    expect((await ask('GET', `/v1/runs/${id}/diff?a=0&b=x`)).status).toBe(400)
  })

  it('forks, verifies and exports', async () => {
    const { ask, started, services } = testApp()
    const id = await started('finish it')
    await services.drivers.ended(id)
    const fork = await ask('POST', `/v1/runs/${id}/fork`, { body: { step: 1 } })
    expect(fork.status).toBe(201)
    expect((await bodyOf(fork)).runId).not.toBe(id)
    expect(await bodyOf(await ask('GET', `/v1/runs/${id}/verify`))).toMatchObject({
      ok: true,
      agents: [{ agentId: id }],
    })
    const lines = (await (await ask('GET', `/v1/runs/${id}/export`)).text()).trim().split('\n')
    expect(JSON.parse(lines[0]!)).toMatchObject({ export: 1, runId: id, streams: [{ stream: `agent-${id}` }] })
    expect(lines.length - 1).toBe(services.log.stream(`agent-${id}`).length)
  })

  it('tells a broken chain', async () => {
    const { ask, started, services } = testApp()
    const id = await started('finish it')
    await services.drivers.ended(id)
    const event = services.log.all[2]!
    services.log.all[2] = { ...event, header: { ...event.header, turn: 9 } }
    expect(await bodyOf(await ask('GET', `/v1/runs/${id}/verify`))).toMatchObject({ ok: false })
  })
})

describe('the rest', () => {
  it('has health, projections, secrets without values', async () => {
    const { ask, http } = testApp()
    expect(await (await http.request('http://localhost/v1/health')).json()).toMatchObject({
      ok: true,
      logId: 'fakelog',
    })
    expect(await bodyOf(await ask('POST', '/v1/projections/rebuild'))).toMatchObject({ equal: true })
    const set = await ask('PUT', '/v1/secrets/API_KEY', { body: { value: 'hush' } })
    expect(await set.text()).not.toContain('hush')
    expect(await bodyOf(await ask('GET', '/v1/secrets'))).toEqual({ names: ['API_KEY'] })
    expect((await ask('PUT', '/v1/secrets/not%20a%20name', { body: { value: 'x' } })).status).toBe(400)
  })
})
