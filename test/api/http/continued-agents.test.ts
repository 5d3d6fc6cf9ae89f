// @module-tag git
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import type { AgentBackend, AgentRunRequest } from '../../../domain/ports/external.ts'
import { tempFolder } from '../../support/folders.ts'
import { appOver, bodyOf } from '../support/http.ts'
import { writeScript } from '../support/script.ts'

type Started = { runId: string; created: boolean }
const RESUME = 'agent_api.session.resume.v1'
const MODEL = 'agent_api.config.model.v1'

/** An agent that reports the usage of its whole session: 100 tokens and a cent for each prompt. */
function talker(kind: string, capabilities: readonly string[], session: string | null = 's1') {
  const asked: AgentRunRequest[] = []
  let prompts = 0
  const backend: AgentBackend = {
    kind,
    capabilities: ['agent_api.run', MODEL, 'agent_api.session.fork.v1', ...capabilities],
    async start(request, { emit, signal }) {
      asked.push(request)
      prompts += 1
      const usage = { inputTokens: 100 * prompts, cachedInputTokens: 0, outputTokens: 10 * prompts }
      await emit({
        ...(session !== null && { sessionId: session }),
        events: [
          {
            kind: 'ToolCall',
            data: { id: 't', name: 'Edit', input: { file_path: 'a', old_string: 'x', new_string: 'y' } },
          },
          { kind: 'ToolResult', data: { id: 't', success: true, output: 'done' } },
        ],
        usage: { scope: 'session', ...usage, cost: { nanoDollars: 10_000_000 * prompts, scope: 'session' } },
      })
      if (request.prompt === 'hang') await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { status: { code: 0, signal: null }, success: true, finalText: `did ${request.prompt}` }
    },
  }
  return { backend, asked }
}

async function opened() {
  const root = realpathSync(tempFolder())
  const [data, workspace, model] = [join(root, 'data'), join(root, 'work'), writeScript(root)]
  for (const folder of [data, workspace]) mkdirSync(folder, { mode: 0o700 })
  const able = talker('able', [RESUME])
  const backends = [able.backend, talker('unable', []).backend, talker('nameless', [RESUME], null).backend]
  const services = await openServices(
    ConfigSchema.parse({ data, model }),
    'owner',
    { autoDrive: false },
    { agents: backends },
  )
  onTestFinished(() => services.close())
  const world = appOver(services, model)
  const end = async (runId: string) => {
    await services.agents!.at(runId)?.completion.catch(() => undefined)
    return runId
  }
  const ended = async (response: Response) => end((await bodyOf<Started>(response)).runId)
  const start = (body: object = {}) =>
    world.ask('POST', '/v1/runs', { body: { agent: 'able', task: 'mend it', workspace, ...body } })
  const goOn = (runId: string, body: object = { task: 'and test it' }, headers: Record<string, string> = {}) =>
    world.ask('POST', `/v1/runs/${runId}/continue`, { body, headers })
  const detail = async (runId: string) =>
    bodyOf<{ run: { own: object; continues: string | null }; continuable: boolean; continuedBy: string[] }>(
      await world.ask('GET', `/v1/runs/${runId}`),
    )
  return { ...world, able, workspace, end, ended, start, goOn, detail }
}

const codeOf = async (response: Response) => [response.status, (await bodyOf(response)).code]

test('an ended run is continued in its session with its settings, and both runs name each other', async () => {
  const { able, workspace, ended, start, goOn, detail } = await opened()
  const fork = { 'agent_api.session.fork.v1': { selector: 'id', id: 's0' } }
  const first = await ended(await start({ model: 'm1', limits: { wallClockMs: 60_000 }, extensions: fork }))
  expect(await detail(first)).toMatchObject({ continuable: true, continuedBy: [], run: { continues: null } })
  const response = await goOn(first, { task: 'and test it', by: 'ann', env: { LANG: 'C' } })
  expect(response.status).toBe(201)
  const second = await ended(response)
  expect(able.asked[1]).toEqual({
    ...{ prompt: 'and test it', workingDir: workspace, timeoutMs: 60_000, env: { LANG: 'C' } },
    extensions: { [MODEL]: 'm1', [RESUME]: { selector: 'id', id: 's1' } },
  })
  expect(await detail(first)).toMatchObject({ continuedBy: [second] })
  expect(await detail(second)).toMatchObject({ continuable: true, run: { continues: first, task: 'and test it' } })
})

test('the usage of each run is its own, although the agent reports that of the session', async () => {
  const { ended, start, goOn, detail } = await opened()
  let runId = await ended(await start())
  for (let n = 0; n < 3; n++) {
    const { own } = (await detail(runId)).run
    expect([n, own]).toMatchObject([n, { inputTokens: 100, outputTokens: 10, nanoDollars: 10_000_000 }])
    runId = await ended(await goOn(runId))
  }
})

test('a run is continued once, and the refusal names the newest continuation', async () => {
  const { able, ended, start, goOn, detail } = await opened()
  const first = await ended(await start())
  const both = await Promise.all([goOn(first), goOn(first)])
  expect(both.map(({ status }) => status).sort()).toEqual([201, 400])
  const second = await ended(both.find(({ status }) => status === 201)!)
  const third = await ended(await goOn(second))
  const refused = await goOn(first)
  expect([refused.status, (await bodyOf<{ detail: string }>(refused)).detail]).toEqual([
    400,
    expect.stringContaining(third),
  ])
  expect(able.asked).toHaveLength(3)
  for (const [runId, continuable] of [
    [first, false],
    [second, false],
    [third, true],
  ] as const)
    expect(await detail(runId)).toMatchObject({ continuable })
})

test('a run whose request is erased is not continued', async () => {
  const { able, ask, ended, start, goOn, detail } = await opened()
  const runId = await ended(await start())
  const erased = await ask('POST', `/v1/runs/${runId}/erase`, { body: { all: true, reason: 'asked to' } })
  expect([erased.status, await erased.text()]).toEqual([200, expect.any(String)])
  expect(await codeOf(await goOn(runId))).toEqual([400, 'INVALID_REQUEST'])
  expect(await detail(runId)).toMatchObject({ continuable: false })
  expect(able.asked).toHaveLength(1)
})

test('the same key continues a run once', async () => {
  const { able, ended, start, goOn } = await opened()
  const first = await ended(await start())
  const key = { 'idempotency-key': 'k1' }
  const [one, two] = await Promise.all([goOn(first, undefined, key), goOn(first, undefined, key)])
  expect(await ended(one)).toBe(await ended(two))
  expect(able.asked).toHaveLength(2)
  expect(await codeOf(await goOn(first, { task: 'other' }, key))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
  const other = await ended(await start())
  expect(await codeOf(await goOn(other, undefined, key))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
})

test('a run that works, has no session, cannot be resumed or is of keepup is refused', async () => {
  const { ask, end, ended, start, goOn, detail, started } = await opened()
  const { runId: works } = await bodyOf<Started>(await start({ task: 'hang' }))
  expect(await codeOf(await goOn(works))).toEqual([400, 'INVALID_REQUEST'])
  expect(await detail(works)).toMatchObject({ continuable: false })
  await ask('POST', `/v1/runs/${works}/cancel`, { body: {} })
  // The run holds the folder until its end.
  await end(works)
  for (const [agent, refused] of [
    ['unable', [422, 'UNSUPPORTED_CAPABILITY']],
    ['nameless', [400, 'INVALID_REQUEST']],
  ] as const) {
    const runId = await ended(await start({ agent }))
    expect([agent, await codeOf(await goOn(runId))]).toEqual([agent, refused])
    expect([agent, (await detail(runId)).continuable]).toEqual([agent, false])
  }
  expect(await codeOf(await goOn(await started('finish it', { drive: false })))).toEqual([400, 'INVALID_REQUEST'])
  expect(await codeOf(await goOn('unknown'))).toEqual([404, 'NOT_FOUND'])
})

test('the edits that an agent reports are listed with their differences, up to an event', async () => {
  const { ask, ended, start } = await opened()
  const runId = await ended(await start())
  const edits = async (query = '') =>
    (await bodyOf<{ edits: object[] }>(await ask('GET', `/v1/agents/${runId}/edits${query}`))).edits
  expect(await edits()).toEqual([
    { revision: expect.any(Number), path: 'a', patch: '--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n+y\n', success: true },
  ])
  expect(await edits('?event=1')).toEqual([])
  expect(await codeOf(await ask('GET', '/v1/agents/unknown/edits'))).toEqual([404, 'NOT_FOUND'])
})
