// @module-tag git
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../../api/http/app.ts'
import { OVER_NETWORK } from '../../../api/http/network.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { ENDED, Puppet } from '../../support/external/in-process.ts'
import { tempFolder } from '../../support/folders.ts'
import { appOver, bodyOf, TOKEN } from '../support/http.ts'
import { writeScript } from '../support/script.ts'

// CONTRACTS 13 over HTTP: starts, lists, events, cancel, and what only keepup's own agents can be asked.

type Run = { runId: string; created: boolean; driving: boolean }

async function opened(agents: object = {}) {
  const root = realpathSync(tempFolder())
  const [data, workspace, model] = [join(root, 'data'), join(root, 'work'), writeScript(root)]
  for (const folder of [data, workspace]) mkdirSync(folder, { mode: 0o700 })
  const puppet = new Puppet()
  const config = ConfigSchema.parse({ data, model, agents })
  const services = await openServices(config, 'owner', { autoDrive: false }, { agents: [puppet.backend] })
  onTestFinished(() => services.close())
  const world = appOver(services, model)
  const start = (body: object = {}, headers: Record<string, string> = {}) =>
    world.ask('POST', '/v1/runs', { body: { agent: 'fake', task: 'go', workspace, ...body }, headers })
  return { ...world, puppet, workspace, start }
}

const codeOf = async (response: Response) => [response.status, (await bodyOf(response)).code]

test('a run of another agent starts, is listed as ungoverned, and shows its events and its end', async () => {
  const { start, ask, puppet, services } = await opened()
  const response = await start({ model: 'm1', by: 'ann' })
  expect(response.status).toBe(201)
  const { runId, ...more } = await bodyOf<Run>(response)
  expect(more).toMatchObject({ created: true, driving: true })
  await puppet.text('hello')
  puppet.exit({ ...ENDED, finalText: 'all done' })
  await services.agents!.at(runId)?.completion
  const { runs } = await bodyOf<{ runs: object[] }>(await ask('GET', '/v1/runs'))
  expect(runs).toMatchObject([{ runId, backend: 'fake', ungoverned: true, status: 'completed', summary: 'all done' }])
  const shown = await bodyOf(await ask('GET', `/v1/runs/${runId}`))
  expect(shown.run).toMatchObject({ runId, driving: false, interrupted: false })
  const page = await bodyOf<{ events: { type: string; payload: object }[] }>(
    await ask('GET', `/v1/runs/${runId}/events`),
  )
  expect(page.events.map(({ type }) => type)).toEqual([
    'external_started',
    'driver_claimed',
    'files_versioned',
    'process_start',
    'agent_events',
    'files_versioned',
    'external_ended',
  ])
  const sse = await (await ask('GET', `/v1/events?run=${runId}&follow=false&type=agent_events`)).text()
  expect(sse).toContain('"text":"hello"')
  const proof = await bodyOf(await ask('GET', `/v1/runs/${runId}/verify`))
  expect(proof).toMatchObject({ ok: true, agents: [{ agentId: runId, ok: true }] })
  const lines = (await (await ask('GET', `/v1/runs/${runId}/export`)).text()).trim().split('\n')
  expect(lines).toHaveLength(8)
})

test('the record of a run of another agent is replayed to any event', async () => {
  const { start, ask, puppet, services } = await opened()
  const { runId } = await bodyOf<Run>(await start())
  await puppet.text('hello')
  puppet.exit({ ...ENDED, finalText: 'all done' })
  await services.agents!.at(runId)?.completion
  const at = async (query = '') => {
    const response = await ask('GET', `/v1/runs/${runId}/state${query}`)
    return { etag: response.headers.get('etag'), ...(await bodyOf<{ revision: number }>(response)) }
  }
  const before = puppet.started
  expect(await at('?event=0')).toMatchObject({ stage: 'requested', prompt: 'go', outcome: null, events: { count: 0 } })
  expect(await at('?event=3')).toMatchObject({ stage: 'running', revision: 3, etag: '"3"', outcome: null })
  expect(await at('?event=4')).toMatchObject({ events: { count: 1 }, usage: null })
  const end = await at()
  expect(end).toMatchObject({ ungoverned: true, backend: 'fake', stage: 'ended', outcome: { finalText: 'all done' } })
  expect(await at(`?event=${end.revision}`)).toEqual(end)
  for (const query of [`?event=${end.revision + 1}`, '?step=1', '?turn=1'])
    expect(await codeOf(await ask('GET', `/v1/runs/${runId}/state${query}`)), query).toEqual([404, 'POINT_UNKNOWN'])
  expect(puppet.started).toBe(before)
})

test('pages go on behind a run of another agent', async () => {
  const { start, ask, started, puppet } = await opened()
  const first = await started('finish it', { drive: false })
  const { runId } = await bodyOf<Run>(await start())
  puppet.exit()
  const page = await bodyOf<{ runs: Run[]; next: string }>(await ask('GET', '/v1/runs?limit=1'))
  expect(page.runs.map((run) => run.runId)).toEqual([runId])
  const rest = await bodyOf<{ runs: Run[] }>(await ask('GET', `/v1/runs?limit=1&after=${page.next}`))
  expect(rest.runs.map((run) => run.runId)).toEqual([first])
})

test('the same key starts one process, and another request under it is refused', async () => {
  const { start, puppet } = await opened()
  const headers = { 'idempotency-key': 'k1' }
  const env = { TOKEN: 'a-value-that-nothing-tells' }
  const all = await Promise.all([1, 2, 3].map(() => start({ env }, headers)))
  const runs = await Promise.all(all.map((response) => bodyOf<Run>(response)))
  expect(new Set(runs.map(({ runId }) => runId)).size).toBe(1)
  expect(runs.filter(({ created }) => created)).toHaveLength(1)
  expect(puppet.started).toBe(1)
  expect(await codeOf(await start({ env, task: 'other' }, headers))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
  puppet.exit()
})

test('cancel ends the process once, says by whom, and is refused when the run has ended', async () => {
  const { start, ask, puppet, services } = await opened()
  const { runId } = await bodyOf<Run>(await start())
  await puppet.text('working')
  const body = { reason: 'enough', by: 'bob' }
  const first = await ask('POST', `/v1/runs/${runId}/cancel`, { body })
  expect(first.status).toBe(200)
  await services.agents!.at(runId)?.completion.catch(() => undefined)
  const shown = await bodyOf(await ask('GET', `/v1/runs/${runId}`))
  expect(shown.run).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } })
  const { events } = await bodyOf<{ events: { type: string; agentId: string; payload: object }[] }>(
    await ask('GET', `/v1/runs/${runId}/events?type=cancel_requested`),
  )
  expect(events).toMatchObject([{ agentId: 'user:bob', payload: { reason: 'enough' } }])
  expect(await codeOf(await ask('POST', `/v1/runs/${runId}/cancel`, { body }))).toEqual([409, 'RUN_FINISHED'])
})

test('what only an own agent can be asked answers with a named error', async () => {
  const { start, ask, puppet } = await opened()
  const { runId } = await bodyOf<Run>(await start())
  const asked = await Promise.all([
    ask('POST', `/v1/runs/${runId}/input`, { body: { text: 'more' } }),
    ask('POST', `/v1/runs/${runId}/pause`, { body: {} }),
    ask('POST', `/v1/runs/${runId}/resume`, { body: {} }),
    ask('POST', `/v1/runs/${runId}/step`, { body: {} }),
    ask('POST', `/v1/runs/${runId}/fork`, { body: {} }),
    ask('GET', `/v1/agents/${runId}/checkpoints`),
    ask('GET', `/v1/agents/${runId}/checkpoints/1`),
    ask('GET', `/v1/runs/${runId}/turns/1/request`),
  ])
  for (const response of asked) expect([response.url, ...(await codeOf(response))]).toEqual(['', 409, 'RUN_UNGOVERNED'])
  puppet.exit()
})

test('a request is refused before anything is recorded', async () => {
  const { start, services } = await opened()
  const before = (await services.log.headCursor())?.position
  const refused = [
    [{ agent: 'unknown-agent' }, 422, 'UNKNOWN_AGENT'],
    [{ task: undefined }, 400, 'INVALID_REQUEST'],
    [{ workspace: undefined }, 400, 'INVALID_REQUEST'],
    [{ role: 'coder' }, 400, 'INVALID_REQUEST'],
    [{ limits: { maxTurns: 3 } }, 400, 'INVALID_REQUEST'],
    [{ drive: false }, 400, 'INVALID_REQUEST'],
    [{ extensions: { 'agent_api.session.fork.v1': { selector: 'last' } } }, 422, 'UNSUPPORTED_CAPABILITY'],
    [{ agent: undefined, env: { A: 'b' } }, 400, 'INVALID_REQUEST'],
  ] as const
  for (const [body, ...expected] of refused)
    expect([body, ...(await codeOf(await start(body)))]).toEqual([body, ...expected])
  expect((await services.log.headCursor())?.position).toBe(before)
})

test('over the network only listed variables and folders are allowed, and no link leads out of them', async () => {
  const root = realpathSync(tempFolder())
  const [inside, outside] = [join(root, 'in', 'deep'), join(root, 'out')]
  for (const folder of [inside, outside]) mkdirSync(folder, { recursive: true })
  symlinkSync(outside, join(root, 'in', 'link'))
  const { services, puppet, workspace } = await opened({ env: ['LANG'], folders: [join(root, 'in')] })
  const app = createApp(services, {
    ...{ token: () => TOKEN, hosts: [], maxBodyBytes: 4096, heartbeatMs: 1000, version: '1', onFault: () => undefined },
  })
  const ask = async (body: object) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    const asked = { method: 'POST', headers, body: JSON.stringify({ agent: 'fake', task: 'go', ...body }) }
    return app.request('http://localhost/v1/runs', asked, OVER_NETWORK)
  }
  for (const folder of [workspace, outside, join(root, 'in', 'link'), join(root, 'in', 'none')])
    expect([folder, ...(await codeOf(await ask({ workspace: folder })))]).toEqual([folder, 403, 'AGENT_NOT_ALLOWED'])
  const env = await ask({ workspace: inside, env: { PATH: '/secret/bin' } })
  expect([env.status, await env.text()]).toEqual([403, expect.not.stringContaining('/secret')])
  expect(puppet.started).toBe(0)
  expect((await ask({ workspace: inside, env: { LANG: 'C' } })).status).toBe(201)
  puppet.exit()
})

test('the kinds are listed with what is there of each', async () => {
  const { ask } = await opened({ acp: { mine: { command: ['/none/agent', 'acp'] } } })
  const { agents } = await bodyOf<{ agents: { kind: string }[] }>(await ask('GET', '/v1/agents'))
  expect(agents.map(({ kind }) => kind)).toEqual([
    'claude_code',
    'codex',
    'fake',
    'gemini',
    'keepup',
    'mine',
    'opencode',
  ])
  expect(agents.find(({ kind }) => kind === 'mine')).toMatchObject({
    installed: false,
    version: null,
    ungoverned: true,
  })
  expect(agents.find(({ kind }) => kind === 'keepup')).toMatchObject({ installed: true, ungoverned: false })
  expect(await codeOf(await ask('GET', '/v1/agents/none'))).toEqual([404, 'NOT_FOUND'])
})

test('what an agent asks leave for waits as an approval, and is decided once, by what was looked at', async () => {
  const { start, ask, answer, puppet, services } = await opened()
  const { runId } = await bodyOf<Run>(await start())
  const asked = { tool: 'edit', title: 'change a file', input: { path: 'note', key: 'correct-horse' } }
  const [first, second] = [puppet.ask(asked), puppet.ask({ ...asked, title: 'another one' })]
  const waiting = async () => {
    const { approvals } = await bodyOf<{ approvals: { toolCallId: string; argumentsHash: string }[] }>(
      await ask('GET', `/v1/approvals?run=${runId}`),
    )
    return approvals
  }
  await expect.poll(async () => (await waiting()).length).toBe(2)
  const [one, two] = await waiting()
  expect(one).toMatchObject({ toolName: 'edit', reason: 'change a file', arguments: asked.input, state: 'pending' })
  const shown = await bodyOf(await ask('GET', `/v1/runs/${runId}`))
  expect(shown.run).toMatchObject({ waiting: [{ for: 'approval' }, { for: 'approval' }], driving: true })
  const preview = await bodyOf(await ask('GET', `/v1/approvals/${one!.toolCallId}`))
  expect(preview.preview).toMatchObject({ kind: 'arguments', text: expect.stringContaining('note') })
  const decide = (call: { toolCallId: string }, body: object) => answer(call.toolCallId, body)
  const of = await bodyOf<{ questionHash: string }>(await ask('GET', `/v1/approvals/${two!.toolCallId}`))
  const wrong = await decide(one!, { decision: 'approved', questionHash: of.questionHash })
  expect(await codeOf(wrong)).toEqual([409, 'QUESTION_CHANGED'])
  const body = { decision: 'approved', by: 'ann' }
  expect((await decide(one!, body)).status).toBe(200)
  expect(await first).toBe('approved')
  expect(await codeOf(await decide(one!, { decision: 'rejected' }))).toEqual([409, 'APPROVAL_NOT_PENDING'])
  expect((await decide(two!, { decision: 'rejected', reason: 'no' })).status).toBe(200)
  expect(await second).toBe('rejected')
  puppet.exit()
  await services.agents!.at(runId)?.completion
  const { approvals } = await bodyOf<{ approvals: object[] }>(await ask('GET', `/v1/approvals?run=${runId}&state=all`))
  expect(approvals).toMatchObject([{ state: 'approved', by: 'approver:ann' }, { state: 'rejected' }])
  expect(await bodyOf(await ask('GET', `/v1/runs/${runId}/verify`))).toMatchObject({ ok: true })
})

test('a cancel answers what the agent waits for, and a decision after the end is refused', async () => {
  const { start, ask, puppet, services } = await opened()
  const { runId } = await bodyOf<Run>(await start())
  const answer = puppet.ask({ tool: 'edit', title: 't', input: {} })
  await expect
    .poll(async () => (await bodyOf<{ approvals: [] }>(await ask('GET', '/v1/approvals'))).approvals.length)
    .toBe(1)
  await ask('POST', `/v1/runs/${runId}/cancel`, { body: {} })
  expect(await answer).toBe(null)
  await services.agents!.at(runId)?.completion.catch(() => undefined)
  const late = await ask('POST', `/v1/approvals/${runId}.t0.c0`, {
    body: { decision: 'approved', questionHash: '0'.repeat(64) },
  })
  expect(await codeOf(late)).toEqual([409, 'RUN_FINISHED'])
  expect(await bodyOf(await ask('GET', '/v1/approvals'))).toMatchObject({ approvals: [] })
})

test('a run that has used more than its budget is ended, and its price is on the bill', async () => {
  const { start, ask, puppet, services } = await opened()
  const budget = { nanoDollars: 1_000 }
  expect(await codeOf(await start({ budget }))).toEqual([400, 'INVALID_REQUEST'])
  const { runId } = await bodyOf<Run>(await start({ budget, model: 'claude-haiku-4-5' }))
  const usage = { scope: 'run', inputTokens: 1_000, cachedInputTokens: 0, outputTokens: 100, cost: null } as const
  await puppet.emit({ usage })
  await services.agents!.at(runId)?.completion.catch(() => undefined)
  const { run } = await bodyOf<{ run: { total: { nanoDollars: number } } }>(await ask('GET', `/v1/runs/${runId}`))
  expect(run).toMatchObject({ error: { code: 'CANCELLED', message: 'the budget of money is used up' } })
  expect(run.total.nanoDollars).toBeGreaterThan(1_000)
})

test('the files are kept before and after, compared, and put back', async () => {
  const { start, ask, puppet, services, workspace } = await opened()
  const note = join(workspace, 'note.txt')
  writeFileSync(note, 'before')
  const { runId } = await bodyOf<Run>(await start())
  expect(await codeOf(await start())).toEqual([409, 'WORKSPACE_BUSY'])
  writeFileSync(note, 'after')
  puppet.exit()
  await services.agents!.at(runId)?.completion
  const { files } = await bodyOf<{ files: { patch: string } }>(await ask('GET', `/v1/runs/${runId}/diff?a=0&b=1`))
  expect(files).toMatchObject({
    changes: [{ change: 'modified', path: 'note.txt' }],
    patch: expect.stringContaining('+after'),
  })
  const restored = await ask('POST', `/v1/runs/${runId}/restore`, { body: { step: 0 } })
  expect([restored.status, readFileSync(note, 'utf8')]).toEqual([200, 'before'])
  await ask('POST', `/v1/runs/${runId}/restore`, { body: { step: 1 } })
  expect(readFileSync(note, 'utf8')).toBe('after')
})
