// @module-tag git
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ScriptInput } from '../../../adapters/models/scripted/script.ts'
import type { Services } from '../../../api/operations/services.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { memoryOfCall, memoryStream } from '../../../domain/memory/fact.ts'
import { appOver, bodyOf } from '../support/http.ts'

const done = { calls: [{ tool: 'complete_task', arguments: { summary: `\${lastResult}` } }] }
const turn = (tool: string, args: object) => ({ calls: [{ tool, arguments: args }] })
const SCRIPT: ScriptInput = {
  script: 1,
  model: 'memory-script',
  turns: [done],
  parts: [
    {
      name: 'save',
      when: { firstInputContains: 'save' },
      turns: [
        turn('remember', { text: 'The port of the server is 8080', scope: 'global' }),
        turn('remember', { text: 'Only this run knows it' }),
        turn('remember', { text: 'Tests need node 26', scope: 'workspace' }),
        turn('remember', { text: `password: \${firstInput}`, scope: 'global' }),
        done,
      ],
    },
    { name: 'find', when: { firstInputContains: 'find' }, turns: [turn('recall', { query: 'server port' }), done] },
    { name: 'all', when: { firstInputContains: 'all' }, turns: [turn('recall', {}), done] },
    {
      name: 'drop',
      when: { firstInputContains: 'drop' },
      turns: [
        turn('recall', { query: 'port' }),
        turn('forget', { id: `\${lastResult/facts/0/id}` }),
        turn('forget', { id: `\${lastResult/forgotten}` }),
        turn('recall', { query: 'port' }),
        done,
      ],
    },
    {
      name: 'stranger',
      when: { firstInputContains: 'stranger' },
      turns: [turn('forget', { id: 'run-0123456789abcdefghjkmnpq' }), done],
    },
  ],
} as never

let root: string
let services: Services
let app: ReturnType<typeof appOver>
const SECRET = 'correct-horse-battery-staple'

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-memory-')))
  const data = join(root, 'data')
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(join(root, 'script.json'), JSON.stringify(SCRIPT))
  const model = `scripted:${join(root, 'script.json')}`
  services = await openServices(ConfigSchema.parse({ data, model }), 'owner', { autoDrive: false })
  await services.vault.set('MY_KEY', SECRET)
  app = appOver(services, model, { maxBodyBytes: 65_536 })
})
afterAll(async () => {
  await services.close()
  rmSync(root, { recursive: true, force: true })
})

const workspace = () => {
  const path = join(root, 'ws')
  mkdirSync(path, { recursive: true })
  return path
}
interface Listed {
  memories: { id: string; text: string | null; scope: string; createdBy: string; runId: string }[]
  next: string | null
}
const listed = async (query = '') => bodyOf<Listed>(await app.ask('GET', `/v1/memories${query}`))
const results = async (runId: string, tool: string) => {
  const found: { success: boolean; result?: { facts?: { text: string; id: string }[] }; error?: { code: string } }[] =
    []
  const { events } = await bodyOf<{ events: { type: string; payload: never }[] }>(
    await app.ask('GET', `/v1/runs/${runId}/events?limit=500`),
  )
  for (const { type, payload } of events)
    if (type === 'tool_call_end' && (payload as { toolName: string }).toolName === tool) found.push(payload)
  return found
}

it('saves facts that other runs find, each where its scope reaches', async () => {
  const first = await app.driven('save', { workspace: workspace() })
  const saved = await results(first, 'remember')
  expect(saved.map(({ success }) => success)).toEqual([true, true, true, true])
  const ids = (await listed('?limit=2')).memories.map(({ id }) => id)
  expect(ids).toHaveLength(2)

  const alone = await app.driven('all of it')
  const texts = (await results(alone, 'recall'))[0]!.result!.facts!.map(({ text }) => text)
  expect(texts).toEqual(['password: save', 'The port of the server is 8080'])
  const beside = await app.driven('all of it', { workspace: workspace() })
  expect((await results(beside, 'recall'))[0]!.result!.facts!.map(({ text }) => text)).toEqual([
    'password: save',
    'Tests need node 26',
    'The port of the server is 8080',
  ])
  const searching = await app.driven('find it')
  expect((await results(searching, 'recall'))[0]!.result!.facts).toMatchObject([
    { text: 'The port of the server is 8080', scope: 'global', savedBy: `model:${first}` },
  ])
  const [proof] = [await bodyOf(await app.ask('GET', `/v1/runs/${searching}/verify`))]
  expect(proof).toMatchObject({ ok: true })
}, 30_000)

it('performs a call a second time without saving a second fact', async () => {
  const runId = (await listed('?q=port&scope=global')).memories[0]!.runId
  const toolCallId = `${runId}.t1.c0`
  const id = memoryOfCall('global', toolCallId)
  const before = (await listed()).memories.length
  const secrets = { json: <T>(value: T) => value }
  const call = { runId, agentId: runId, toolCallId, causationId: 'agent-x@1', secrets }
  const request = { kind: 'remember', scope: 'global', place: '', text: 'other' } as const
  expect(await services.memories.perform(request, call)).toEqual({ id, scope: 'global' })
  expect(await services.memories.history(id)).toHaveLength(1)
  expect((await listed()).memories).toHaveLength(before)
  expect((await services.log.head(memoryStream(id)))?.revision).toBe(0)
})

it('hides secrets of what agents and people save', async () => {
  await app.driven(`save ${SECRET}`, { workspace: workspace() })
  const { memories } = await listed('?q=password+secret')
  expect(memories[0]!.text).toMatch(/^password: save secret:ku_[0-9a-z]{26}$/)
  const { id } = memories[0]!
  const corrected = await app.ask('POST', `/v1/memories/${id}/correct`, {
    body: { text: `it is ${SECRET}`, by: 'ann' },
  })
  expect(corrected.status).toBe(200)
  const found = await bodyOf<{ memory: { text: string }; changes: object[] }>(
    await app.ask('GET', `/v1/memories/${id}`),
  )
  expect(JSON.stringify(found)).not.toContain(SECRET)
  expect(found.memory.text).toMatch(/^it is secret:ku_/)
  expect(found.changes).toMatchObject([{ type: 'fact_remembered' }, { type: 'fact_corrected', by: 'user:ann' }])
})

it('lets people list, correct, forget and erase, and proves what is left', async () => {
  const { id } = (await listed(`?q=tests&scope=workspace&place=${encodeURIComponent(workspace())}`)).memories[0]!
  const change = (what: string, body: object) => app.ask('POST', `/v1/memories/${id}/${what}`, { body })
  expect(await bodyOf(await change('correct', { text: 'Tests need node 27' }))).toMatchObject({
    revision: 1,
    recorded: true,
  })
  expect((await listed('?q=27')).memories).toMatchObject([{ id, text: 'Tests need node 27' }])
  expect((await change('correct', { text: 'x'.repeat(4_097) })).status).toBe(400)
  const gone = await bodyOf(await change('forget', { reason: 'it was about me', erase: true, by: 'ann' }))
  expect(gone).toMatchObject({ id, recorded: true })
  expect((await listed('?q=27')).memories).toEqual([])
  expect((await listed('?forgotten=true')).memories.find((one) => one.id === id)).toMatchObject({ text: null })
  expect((await change('correct', { text: 'again' })).status).toBe(409)
  expect(await bodyOf(await change('forget', {}))).toMatchObject({ recorded: false })
  const shown = await bodyOf<{ changes: { type: string; text: string | null }[] }>(
    await app.ask('GET', `/v1/memories/${id}`),
  )
  expect(shown.changes.map(({ type, text }) => [type, text])).toEqual([
    ['fact_remembered', null],
    ['fact_corrected', null],
    ['fact_forgotten', null],
    ['erased', 'it was about me'],
  ])
  expect(await bodyOf(await app.ask('GET', `/v1/memories/${id}/verify`))).toMatchObject({ ok: true, problems: [] })
  expect(await services.read.rebuild()).toMatchObject({ equal: true })
  expect((await app.ask('GET', '/v1/memories/global-0123456789abcdefghjkmnpq')).status).toBe(404)
}, 30_000)

it('lets agents forget what they reach, and nothing else', async () => {
  const runId = await app.driven('drop it')
  const forgotten = await results(runId, 'forget')
  expect(forgotten.map(({ success }) => success)).toEqual([true, true])
  const [before, after] = await results(runId, 'recall')
  expect(after!.result!.facts!.length).toBe(before!.result!.facts!.length - 1)
  const other = await app.driven('stranger')
  expect((await results(other, 'forget'))[0]).toMatchObject({ success: false, error: { code: 'RESOURCE_NOT_FOUND' } })
})
