// @module-tag git
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Services } from '../../../api/operations/services.ts'
import type { ContextView } from '../../../api/operations/window/schemas.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { inProcess } from '../support/cli.ts'
import { appOver, bodyOf } from '../support/http.ts'

const turn = (tool: string, args: object) => ({ calls: [{ tool, arguments: args }] })
const reads = Array.from({ length: 12 }, (_, n) => turn('read_file', { path: 'a.txt', offset: n + 1 }))
const SCRIPT = {
  script: 1,
  model: 'long-script',
  turns: [...reads, turn('ask_user', { question: 'Go on?' }), turn('complete_task', { summary: 'done' })],
}

let root: string
let services: Services
let app: ReturnType<typeof appOver>
let id: string
const view = async () => bodyOf<ContextView>(await app.ask('GET', `/v1/runs/${id}/context`))
const hidden = ({ segments }: ContextView) => segments.flatMap((one) => ('turns' in one ? [one.turns] : []))
const expand = (body: object) => app.ask('POST', `/v1/runs/${id}/context/expand`, { body })

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-context-')))
  const data = join(root, 'data')
  mkdirSync(data, { mode: 0o700 })
  mkdirSync(join(root, 'ws'))
  writeFileSync(join(root, 'ws', 'a.txt'), Array.from({ length: 20 }, () => 'x'.repeat(150)).join('\n'))
  writeFileSync(join(root, 'script.json'), JSON.stringify(SCRIPT))
  const model = `scripted:${join(root, 'script.json')}`
  services = await openServices(ConfigSchema.parse({ data, model }), 'owner', { autoDrive: false })
  app = appOver(services, model, { maxBodyBytes: 65_536 })
  const context = { maxTokens: 9_000, compressionStrategy: 'truncate' }
  id = await app.driven('read it', { workspace: join(root, 'ws'), context, policy: { sandboxed: false } })
})
afterAll(async () => {
  await services.close()
  rmSync(root, { recursive: true, force: true })
})

it('tells what the next request hides, and records that a person wants it back', async () => {
  const before = await view()
  expect(before).toMatchObject({ runId: id, limit: 9_000, threshold: 0.8, strategy: 'truncate' })
  const [range] = hidden(before)
  expect(range).toMatchObject({ from: 1 })
  expect((await expand({ turns: { from: 900, to: 901 } })).status).toBe(409)
  expect((await expand({ turns: { from: 2, to: 1 } })).status).toBe(400)
  expect((await expand({ turns: { from: 1, to: 1 }, by: 'ann' })).status).toBe(200)
  const { events } = await bodyOf<{ events: { type: string; actor: { id: string }; payload: object }[] }>(
    await app.ask('GET', `/v1/runs/${id}/events?limit=500`),
  )
  expect(events.filter(({ type }) => type === 'context_expanded')).toMatchObject([
    { actor: { id: 'ann' }, payload: { turns: { from: 1, to: 1 } } },
  ])
})

it('is told by "keepup context" and brought back by "keepup expand"', async () => {
  await services.close()
  const env = { KEEPUP_DATA: join(root, 'data'), HOME: root, XDG_CONFIG_HOME: root, PATH: process.env.PATH ?? '' }
  const told = await inProcess(['context', id], env)
  expect(told.out).toMatch(/of 9000 tokens \(\d+ %\); compressed at 80 %, truncate\n.*messages 0 to/s)
  expect(told.out).toContain('hidden')
  expect(told.err).toContain(`expand ${id}`)
  expect(await inProcess(['expand', id, '--turns', '2'], env)).toMatchObject({ code: 0 })
  const none = await inProcess(['expand', id, '--turns', '7..3'], env)
  expect(none).toMatchObject({ code: 2, err: expect.stringContaining('--turns') })
  await inProcess(['input', id, 'Go on.'], env)
  const done = await inProcess(['resume', id], env)
  expect(done).toMatchObject({ code: 0, out: expect.stringContaining('done') })
  const request = await inProcess(['events', id, '-o', 'jsonl'], env)
  expect(request.out).toContain('"reason":"expanded"')
})
