// @module-tag git
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RoutingDecisions } from '../../../api/operations/models/schemas.ts'
import type { PermissionList } from '../../../api/operations/permissions/schemas.ts'
import type { Services } from '../../../api/operations/services.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { inProcess } from '../support/cli.ts'
import { appOver, bodyOf } from '../support/http.ts'

const turn = (tool: string, args: object) => ({ calls: [{ tool, arguments: args }] })
const asks = { tool: 'list_dir', scope: 'run', until: '2h', reason: 'to see\nthe files' }
const SCRIPT = {
  script: 1,
  model: 'asking',
  turns: [
    turn('request_permission', asks),
    turn('list_dir', { path: '.' }),
    turn('request_permission', { ...asks, tool: 'read_file' }),
    turn('ask_user', { question: 'Go on?' }),
    turn('list_dir', { path: '.' }),
    turn('complete_task', { summary: 'done' }),
  ],
}

let root: string
let services: Services
let app: ReturnType<typeof appOver>
let id: string

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-permissions-')))
  const data = join(root, 'data')
  mkdirSync(data, { mode: 0o700 })
  mkdirSync(join(root, 'ws'))
  writeFileSync(join(root, 'script.json'), JSON.stringify(SCRIPT))
  const model = `scripted:${join(root, 'script.json')}`
  services = await openServices(ConfigSchema.parse({ data, model }), 'owner', { autoDrive: false })
  app = appOver(services, model, { maxBodyBytes: 65_536 })
  const policy = { mode: 'batch', deniedTools: ['list_dir', 'read_file'], sandboxed: false }
  id = await app.driven('look around', { workspace: join(root, 'ws'), policy })
})
afterAll(async () => {
  await services.close()
  rmSync(root, { recursive: true, force: true })
})

const call = (n: number) => `${id}.t${n}.c0`
const approve = async (n: number) => {
  const answer = await app.answer(call(n), { decision: 'approved', by: 'ann' })
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
  services.drivers.start(id)
  await services.drivers.ended(id)
}

it('lists what is permitted, names it for each call, and takes it back, once', async () => {
  const asked = await bodyOf<{ preview: { kind: string; text: string } }>(
    await app.ask('GET', `/v1/approvals/${call(1)}`),
  )
  expect(asked.preview.kind).toBe('permission')
  expect(asked.preview.text.split('\n').slice(0, 3)).toEqual([
    'tool    list_dir',
    'for     the rest of this run',
    'until   2h after the decision',
  ])
  await approve(1)
  await approve(3)
  const list = () => app.ask('GET', `/v1/runs/${id}/permissions`).then((answer) => bodyOf<PermissionList>(answer))
  expect((await list()).permissions).toMatchObject([
    { id: call(1), tool: 'list_dir', scope: 'run', phase: null },
    { id: call(3), tool: 'read_file' },
  ])
  const why = await bodyOf<RoutingDecisions>(await app.ask('GET', `/v1/runs/${id}/turns/2/routing`))
  expect(why.permitted).toMatchObject([
    { toolCallId: call(2), toolName: 'list_dir', permission: call(1), ran: true, granted: { scope: 'run', by: 'ann' } },
  ])
  const path = `/v1/permissions/${call(1)}/revoke`
  expect((await app.ask('POST', path, { body: { reason: 'enough', by: 'bob' } })).status).toBe(200)
  expect((await app.ask('POST', path, { body: {} })).status).toBe(409)
  expect((await app.ask('POST', '/v1/permissions/nothing/revoke', { body: {} })).status).toBe(404)
  expect((await list()).permissions).toHaveLength(1)
})

it('is told by "keepup permissions" and "keepup explain", and taken back by "keepup revoke"', async () => {
  await services.close()
  const env = { KEEPUP_DATA: join(root, 'data'), HOME: root, XDG_CONFIG_HOME: root, PATH: process.env.PATH ?? '' }
  const told = await inProcess(['permissions', id], env)
  expect(told.out).toContain('read_file')
  expect(told.err).toContain('revoke')
  const why = await inProcess(['explain', id, '--turn', '2'], env)
  expect(why.out).toMatch(
    /list_dir \(.*\.t2\.c0\) ran by permission .*\.t1\.c0, given by ann for this run until .*: to see/,
  )
  expect(await inProcess(['revoke', call(3), '--reason', 'enough'], env)).toMatchObject({ code: 0 })
  expect((await inProcess(['permissions', id, '-o', 'json'], env)).out.trim()).toBe('[]')
  await inProcess(['input', id, 'Go on.'], env)
  expect(await inProcess(['resume', id], env)).toMatchObject({ code: 0 })
  const events = await inProcess(['events', id], env)
  expect(events.out).toMatch(/permission_revoked .*t1\.c0.*enough/)
  expect(events.out).toMatch(/list_dir ✗.*PERMISSION_DENIED/)
})
