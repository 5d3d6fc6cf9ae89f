// @module-tag git
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { bodyOf, openWorld } from '../support/http.ts'

// The API as the author of a client sees it: one name and one shape for one thing, wherever it is shown.

const world = await openWorld()
afterAll(() => world.close())
const { ask, driven, started, services, model } = world

const get = async <T = Record<string, unknown>>(path: string) => {
  const response = await ask('GET', path)
  expect([path, response.status]).toEqual([path, 200])
  return bodyOf<T>(response)
}

interface Page {
  readonly runs: { runId: string }[]
  readonly next: string | null
}

describe('a run', () => {
  it('shows where it stands and all that it waits for, alone and in lists', async () => {
    const workspace = world.workspace()
    const policy = { mode: 'batch', requiresApproval: ['write_file'] }
    const id = await driven('both', { workspace, policy })
    await ask('POST', `/v1/runs/${id}/pause`, { body: {} })
    const shown = {
      runId: id,
      agentId: id,
      status: 'active',
      machineState: 'TOOL_WAIT',
      paused: true,
      workspace,
      phase: null,
      waiting: [
        { for: 'approval', agentId: id, toolCallId: `${id}.t1.c0` },
        { for: 'pause', agentId: id, toolCallId: null },
      ],
    }
    const detail = await get(`/v1/runs/${id}`)
    expect(detail.run).toMatchObject(shown)
    expect(detail.tree).toMatchObject([{ agentId: id, machineState: 'TOOL_WAIT', paused: true }])
    expect((await get<Page>('/v1/runs?limit=1')).runs[0]).toMatchObject(shown)
  })

  it('of a role shows its phase in lists too', async () => {
    const id = await started('wait', { role: 'coder', drive: false })
    expect((await get<Page>('/v1/runs?limit=1')).runs[0]).toMatchObject({
      runId: id,
      role: 'Coder',
      phase: 'understand',
    })
  })

  it('shows money in nano-dollars, and the same in dollars', async () => {
    const id = await driven('finish')
    const { run } = await get<{ run: { total: { nanoDollars: number; usd: number } } }>(`/v1/runs/${id}`)
    expect(run.total.usd).toBe(run.total.nanoDollars / 1e9)
    expect(run.total).toMatchObject({ inDoubt: { nanoDollars: 0, usd: 0 } })
  })

  it('that failed in recovery shows the last words of its model', async () => {
    const id = await driven('fail', { limits: { maxTurns: 1 } })
    expect((await get(`/v1/runs/${id}`)).run).toMatchObject({
      machineState: 'ERROR',
      status: 'failed',
      partialOutput: 'I give up.',
    })
  })

  it('takes RecoveryConfig as the specification has it', async () => {
    const recovery = { graceTurns: 3, graceTimeoutMs: 9000, warningTemplate: 'Now.', hardLimit: false }
    const id = await started('finish', { recovery, limits: {}, drive: false })
    expect(await get(`/v1/runs/${id}/state`)).toMatchObject({ spec: { recovery } })
  })
})

it('a start and a fork answer alike, and drive unless they are told not to', async () => {
  const workspace = world.workspace()
  const start = await ask('POST', '/v1/runs', { body: { task: 'finish', model, workspace, tools: ['read_file'] } })
  const begun = await bodyOf<{ runId: string }>(start)
  expect(begun).toEqual({
    runId: begun.runId,
    agentId: begun.runId,
    revision: expect.any(Number),
    driving: true,
    created: true,
    warnings: [],
    workspace,
  })
  await services.drivers.ended(begun.runId)
  const made = await ask('POST', `/v1/runs/${begun.runId}/fork`, { body: { step: 1 } })
  const fork = await bodyOf<{ runId: string }>(made)
  expect(fork).toEqual({
    ...begun,
    runId: fork.runId,
    agentId: fork.runId,
    revision: expect.any(Number),
    workspace: expect.stringMatching(/^\//),
  })
  const held = await ask('POST', `/v1/runs/${begun.runId}/fork`, { body: { step: 1, drive: false } })
  expect(await bodyOf(held)).toMatchObject({ driving: false })
  await services.drivers.ended(fork.runId)
})

describe('checkpoints and the state at a point', () => {
  it('have the same members with the same values, one by one, in a list, and at their step', async () => {
    const id = await driven('write it', {
      workspace: world.workspace(),
      approve: ['write_file'],
      contextVariables: { ticket: 42 },
    })
    const { checkpoint } = await get<{ checkpoint: Record<string, unknown> }>(`/v1/agents/${id}/checkpoints/1`)
    expect(checkpoint).toMatchObject({
      id: `${id}.s1`,
      threadId: id,
      step: 1,
      turn: 1,
      state: { sopPhase: '', contextVariables: { ticket: 42 }, messages: [{ role: 'user', content: 'write it' }, {}] },
      pendingToolCalls: [],
      completedToolResults: [{ toolCallId: `${id}.t1.c0`, name: 'write_file', success: true }],
      pendingCreates: ['hello.txt'],
      usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number), cost: 0, nanoDollars: 0 },
    })
    expect(await get(`/v1/runs/${id}/state?step=1`)).toMatchObject(checkpoint)
    const plain = await get<{ checkpoints: object[] }>(`/v1/agents/${id}/checkpoints`)
    expect(Object.keys(plain.checkpoints[0]!)).not.toContain('state')
    const whole = await get<{ checkpoints: object[] }>(`/v1/agents/${id}/checkpoints?include=state&limit=2`)
    expect(whole.checkpoints[0]).toEqual(checkpoint)
    const many = await ask('GET', `/v1/agents/${id}/checkpoints?include=state&limit=51`)
    expect([many.status, (await bodyOf(many)).errors]).toEqual([
      400,
      [{ in: 'query', path: 'limit', message: expect.stringContaining('at most 50') }],
    ])
  })
})

describe('lists', () => {
  it('go on from the same kind of cursor, whatever they list', async () => {
    const id = await driven('write it', { workspace: world.workspace(), approve: ['write_file'] })
    const other = await driven('write it', { workspace: world.workspace() })
    await driven('write it', { workspace: world.workspace() })
    const lists = [
      '/v1/runs?',
      '/v1/approvals?',
      `/v1/agents/${id}/checkpoints?`,
      `/v1/runs/${id}/events?`,
      `/v1/runs/${id}/events?type=turn_start,turn_end&`,
    ]
    for (const list of lists) {
      type Answer = Record<string, unknown> & { next: string | null }
      const entries = (answer: Answer) => Object.values(answer).find(Array.isArray) as object[]
      const first = await get<Answer>(`${list}limit=1`)
      expect([list, first.next]).toEqual([list, expect.stringMatching(/^[0-9a-z-]+~\d+~[0-9a-f]{64}$/)])
      const second = await get<Answer>(`${list}limit=1&after=${first.next}`)
      const both = await get<Answer>(`${list}limit=2`)
      expect([list, ...entries(first), ...entries(second)]).toEqual([list, ...entries(both)])
    }
    const { next } = await get<{ next: string }>(`/v1/runs/${id}/events?limit=3`)
    const stream = await ask('GET', `/v1/events?follow=false&run=${other}&after=${next}`, {
      headers: { accept: 'application/x-ndjson' },
    })
    expect((await stream.text()).trim().split('\n')[0]).toContain('"type":"agent_started"')
    const foreign = await ask('GET', `/v1/runs?after=${next.replace(/[0-9a-f]{64}$/, '0'.repeat(64))}`)
    expect([foreign.status, (await bodyOf(foreign)).code]).toEqual([409, 'CURSOR_MISMATCH'])
  })

  it('of an unknown run or agent are 404 and name the id', async () => {
    const id = await driven('finish')
    for (const path of [
      '/v1/runs/no-such/events',
      `/v1/runs/${id}/events?agent=no-such`,
      '/v1/artifacts?run=no-such',
      '/v1/approvals?run=no-such',
      '/v1/doubts?run=no-such',
      '/v1/questions?run=no-such',
      '/v1/agents/no-such/checkpoints',
      '/v1/agents/no-such/checkpoints/1',
      '/v1/events?run=no-such&follow=false',
      '/v1/events?agent=no-such&follow=false',
      '/v1/runs/no-such/live',
      '/v1/runs/no-such/export',
      '/v1/runs/no-such/verify',
    ]) {
      const response = await ask('GET', path)
      const { code, detail } = await bodyOf<{ code: string; detail: string }>(response)
      expect([path, response.status, code]).toEqual([path, 404, 'NOT_FOUND'])
      expect(detail).toContain('"no-such"')
    }
  })

  it('of events take the agents, types and turns that events show', async () => {
    const id = await driven('finish', { by: 'ann' })
    const shown = async (query: string) => {
      const { events } = await get<{ events: { type: string; agentId: string; turn: number }[] }>(
        `/v1/runs/${id}/events?${query}`,
      )
      return events
    }
    expect((await shown('type=turn_start,completion')).map((e) => e.type)).toEqual(['turn_start', 'completion'])
    for (const event of await shown('turn=1')) expect(event.turn).toBe(1)
    expect((await shown('agent=user:ann')).map((e) => [e.agentId, e.turn])).toEqual([
      ['user:ann', 0],
      ['user:ann', 0],
    ])
    expect(await shown('turn=1&type=agent_started')).toEqual([])
  })

  it('mark an artifact that the agent only claims', async () => {
    const id = await driven('write it', { workspace: world.workspace(), approve: ['write_file'] })
    const { artifacts } = await get<{ artifacts: { artifact: object }[] }>(`/v1/artifacts?run=${id}`)
    expect(artifacts[0]!.artifact).not.toHaveProperty('claimed')
    const bare = await driven('claim: write it', { workspace: world.workspace(), approve: ['write_file'] })
    expect((await get<{ artifacts: object[] }>(`/v1/artifacts?run=${bare}`)).artifacts).toMatchObject([
      { artifact: { type: 'file', path: 'nowhere.txt', claimed: true } },
    ])
  })
})

describe('runs are found', () => {
  const found = async (query: string) => (await get<Page>(`/v1/runs?${query}`)).runs.map((run) => run.runId)

  it('by person, file, text, cost, time and by what they show', async () => {
    const workspace = world.workspace()
    const id = await driven('write a Zebra', { workspace, approve: ['write_file'], by: 'zoe' })
    expect(await found('person=zoe')).toEqual([id])
    expect(await found('text=zebra')).toEqual([id])
    expect(await found(`file=${encodeURIComponent(join(workspace, 'hello.txt'))}`)).toEqual([id])
    expect(await found('file=hello.txt')).toContain(id)
    expect(await found('over=0.5')).toEqual([])
    expect(await found('until=2020-01-01')).toEqual([])
    expect(await found('role=coder')).toEqual(await found('role=Coder'))
    expect(await found('role=coder')).not.toEqual([])
    expect(await found('since=2d&limit=1')).toEqual([id])
    expect(await found('status=completed&person=zoe&since=1h')).toEqual([id])
    for (const query of ['since=soon', 'over=-1', 'over=much', 'status=cancelled', 'file=']) {
      expect([query, (await ask('GET', `/v1/runs?${query}`)).status]).toEqual([query, 400])
    }
  })

  it.each([
    ['cancelled', /error=CANCELLED/],
    ['interrupted', /"interrupted" of each run/],
    ['nonsense', /active.*recovering.*completed.*failed/],
  ])('by the status %s: the refusal says how to ask', async (status, how) => {
    expect((await bodyOf(await ask('GET', `/v1/runs?status=${status}`))).detail).toMatch(how)
  })
})
