// @module-tag git
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PlanView } from '../../../api/operations/plan/schemas.ts'
import type { Services } from '../../../api/operations/services.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { inProcess } from '../support/cli.ts'
import { appOver, bodyOf } from '../support/http.ts'

const turn = (tool: string, args: object) => ({ calls: [{ tool, arguments: args }] })
const plan = (title: string, content: string) => ({ type: 'plan', title, content })
const SECRET = 'correct-horse-battery-staple'
const tasks = [
  { id: 'read', title: 'read the code', status: 'completed' },
  { id: 'mend', title: 'mend it', dependencies: ['read'] },
]
const SCRIPT = {
  script: 1,
  model: 'plan-script',
  turns: [
    turn('update_tasks', { tasks }),
    turn('advance_phase', { summary: 's', artifacts: [plan('First', `Key: ${SECRET}`), plan('Second', 'Do less.')] }),
    turn('ask_user', { question: 'Is it good?' }),
  ],
}

let root: string
let services: Services
let app: ReturnType<typeof appOver>
let id: string
const folder = () => join(root, 'data', 'plans', id)
const file = (version: number) => join(folder(), `${id}-v${version}.md`)
const view = async () => bodyOf<PlanView>(await app.ask('GET', `/v1/runs/${id}/plan`))

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-plan-')))
  const data = join(root, 'data')
  mkdirSync(data, { mode: 0o700 })
  mkdirSync(join(root, 'ws'))
  writeFileSync(join(root, 'script.json'), JSON.stringify(SCRIPT))
  const model = `scripted:${join(root, 'script.json')}`
  services = await openServices(ConfigSchema.parse({ data, model }), 'owner', { autoDrive: false })
  await services.vault.set('MY_KEY', SECRET)
  app = appOver(services, model, { maxBodyBytes: 65_536 })
  const more = { role: 'coder', workspace: join(root, 'ws'), secrets: ['MY_KEY'], policy: { sandboxed: false } }
  id = await app.driven('plan it', more)
  await services.plans.settled()
})
afterAll(async () => {
  await services.close()
  rmSync(root, { recursive: true, force: true })
})

it('keeps each version of a plan as a file beside the log, redacted, and none in the workspace', async () => {
  expect(readdirSync(folder()).sort()).toEqual([`${id}-v1.md`, `${id}-v2.md`])
  const [first, second] = [1, 2].map((version) => readFileSync(file(version), 'utf8'))
  expect(first).toMatch(/^# First\n\nVersion 1 of the plan of .*\n\nKey: secret:ku_[0-9a-z]{26}\n$/)
  expect(second).toContain('Do less.')
  expect(readdirSync(join(root, 'ws'))).toEqual([])
})

it('shows tasks and plans, and writes a file again that is missing or was changed', async () => {
  const { tasks: graph, plans } = await view()
  expect(graph.map(({ id: task, status, dependencies }) => [task, status, dependencies])).toEqual([
    ['read', 'completed', []],
    ['mend', 'pending', ['read']],
  ])
  expect(plans).toMatchObject([
    { version: 1, title: 'First', agentId: id, file: file(1) },
    { version: 2, title: 'Second', content: 'Do less.' },
  ])
  const before = readFileSync(file(1), 'utf8')
  rmSync(file(1))
  writeFileSync(file(2), 'another plan')
  await view()
  expect(readFileSync(file(1), 'utf8')).toBe(before)
  expect(readFileSync(file(2), 'utf8')).toContain('Do less.')
})

it('has the tasks of a step, before they were made and after', async () => {
  const at = async (step: number) =>
    (await bodyOf<{ tasks: unknown[] }>(await app.ask('GET', `/v1/runs/${id}/state?step=${step}`))).tasks
  expect(await at(1)).toHaveLength(2)
  const { tasks: before } = await bodyOf<{ tasks: unknown[] }>(await app.ask('GET', `/v1/runs/${id}/state?event=1`))
  expect(before).toEqual([])
})

it('empties the files with the bodies that an erasure empties', async () => {
  await app.ask('POST', `/v1/runs/${id}/cancel`, { body: { reason: 'enough' } })
  await services.drivers.ended(id)
  const done = await app.ask('POST', `/v1/runs/${id}/erase`, { body: { all: true, reason: 'private' } })
  expect(done.status).toBe(200)
  expect([1, 2].map((version) => readFileSync(file(version), 'utf8'))).toEqual(['', ''])
  expect(existsSync(folder())).toBe(true)
  const { plans, tasks: graph } = await view()
  expect(plans.map(({ content }) => content)).toEqual([null, null])
  expect(graph.map(({ title }) => title)).toEqual(['[erased]', '[erased]'])
})

it('is shown by "keepup plan" and by "keepup runs show"', async () => {
  await services.close()
  const env = { KEEPUP_DATA: join(root, 'data'), HOME: root, PATH: process.env.PATH ?? '' }
  const shown = await inProcess(['plan', id, '--all'], { ...env, XDG_CONFIG_HOME: process.env.XDG_CONFIG_HOME ?? '' })
  expect(shown.out).toContain('tasks: 1 of 2 completed\n  [x] read: [erased]\n  [ ] mend: [erased]')
  expect(shown.out).toContain(`plan of ${id}, version 2`)
  const run = await inProcess(['runs', 'show', id], { ...env, XDG_CONFIG_HOME: process.env.XDG_CONFIG_HOME ?? '' })
  expect(run.out).toContain('tasks: 1 of 2 completed')
})
