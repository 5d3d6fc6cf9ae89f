// @module-tag git
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CallDecisionList } from '../../../api/operations/decisions/schemas.ts'
import type { Services } from '../../../api/operations/services.ts'
import type { SqlAnswer } from '../../../api/operations/sql/schemas.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { appOver, bodyOf } from '../support/http.ts'

const turn = (tool: string, args: object) => ({ calls: [{ tool, arguments: args }] })
const SCRIPT = {
  script: 1,
  model: 'asking',
  turns: [
    turn('read_file', { path: 'a.txt' }),
    turn('list_dir', { path: '.' }),
    turn('request_permission', { tool: 'list_dir', scope: 'run', until: '2h', reason: 'to see' }),
    turn('list_dir', { path: '.' }),
    turn('write_file', { path: 'b.txt', content: 'b' }),
    turn('search_code', { query: 'a' }),
    turn('complete_task', { summary: 'done' }),
  ],
}

const TOOLS = ['list_dir', 'read_file', 'search_code', 'write_file']

let root: string
let services: Services
let app: ReturnType<typeof appOver>
let id: string

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-decisions-')))
  const data = join(root, 'data')
  mkdirSync(data, { mode: 0o700 })
  mkdirSync(join(root, 'ws'))
  writeFileSync(join(root, 'ws/a.txt'), 'a')
  writeFileSync(join(root, 'script.json'), JSON.stringify(SCRIPT))
  const model = `scripted:${join(root, 'script.json')}`
  services = await openServices(ConfigSchema.parse({ data, model }), 'owner', { autoDrive: false })
  app = appOver(services, model, { maxBodyBytes: 65_536 })
  const policy = {
    mode: 'batch',
    deniedTools: ['list_dir'],
    requiresApproval: ['write_file', 'search_code'],
    sandboxed: false,
  }
  id = await app.driven('look around', {
    workspace: join(root, 'ws'),
    policy,
    tools: TOOLS,
    approve: ['write_file'],
    by: 'eve',
  })
  await answer(3, 'approved')
  await answer(6, 'rejected')
})
afterAll(async () => {
  await services.close()
  rmSync(root, { recursive: true, force: true })
})

const call = (n: number) => `${id}.t${n}.c0`
const answer = async (n: number, decision: string) => {
  const given = await app.answer(call(n), { decision, by: 'ann' })
  expect([given.status, await given.text()]).toEqual([200, expect.any(String)])
  services.drivers.start(id)
  await services.drivers.ended(id)
}
const rows = async (columns: string) => {
  const sql = `select ${columns} from call_decisions where run_id = '${id}' order by position`
  return (await bodyOf<SqlAnswer>(await app.ask('POST', '/v1/sql', { body: { sql } }))).rows
}

it('call_decisions names the method, the rule and the person of each call', async () => {
  expect(await rows('call_id, tool, decision, method, rule, principal')).toEqual([
    [call(1), 'read_file', 'allowed', 'policy', 'allowed', null],
    [call(2), 'list_dir', 'denied', 'policy', 'denied', null],
    [call(3), 'request_permission', 'allowed', 'person', null, 'approver:ann'],
    [call(4), 'list_dir', 'allowed', 'permission', call(3), 'approver:ann'],
    [call(5), 'write_file', 'allowed', 'standing_approval', 'write_file', 'approver:eve'],
    [call(6), 'search_code', 'denied', 'person', null, 'approver:ann'],
    [call(7), 'complete_task', 'allowed', 'policy', 'control', null],
  ])
})

it('call_decisions has the policy, the times and the question as it was shown', async () => {
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
  const all = await rows('method, policy_hash, shown_hash, asked_at, decided_at, claimed, effect')
  expect(new Set(all.map(([, policy]) => policy)).size).toBe(1)
  for (const [method, policy, question, asked, decided, , effect] of all) {
    expect([policy, decided, effect]).toEqual([hash, expect.any(String), expect.any(String)])
    expect([question === null, asked === null]).toEqual(method === 'person' ? [false, false] : [true, true])
    if (asked !== null) expect(String(asked) <= String(decided)).toBe(true)
  }
})

it('GET /v1/runs/{id}/decisions gives the same rows, page by page', async () => {
  const found: CallDecisionList['decisions'][number][] = []
  for (let after: string | null = ''; after !== null; ) {
    const cursor = after === '' ? '' : `&after=${after}`
    const page: CallDecisionList = await bodyOf(await app.ask('GET', `/v1/runs/${id}/decisions?limit=3${cursor}`))
    expect(page.decisions.length).toBeLessThanOrEqual(3)
    found.push(...page.decisions)
    after = page.next
  }
  const members = found.map((one) => [one.toolCallId, one.method, one.decision, one.principal])
  expect(members).toEqual(await rows('call_id, method, decision, principal'))
  expect(members).toHaveLength(7)
  expect((await app.ask('GET', '/v1/runs/nothing/decisions')).status).toBe(404)
})
