import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openKeepUp } from '../../api/index.ts'
import { inProcess } from '../api/support/cli.ts'
import { CLONE } from '../support/mcp/servers.ts'

// Runs with a real MCP server as a process, from the settings to the log.

const FAKE = join(import.meta.dirname, '../support/mcp/fake-server.ts')
const VALUE = 'a-value-of-the-tracker-99'

function folder(mode = 'normal') {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-mcp-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const [data, ws] = [join(root, 'data'), join(root, 'ws')]
  mkdirSync(data)
  mkdirSync(ws)
  const settings = (more: object) => {
    const secretEnv = { API_KEY: 'TRACKER_KEY' }
    const fake = { command: [process.execPath, FAKE, mode], readable: [CLONE], secretEnv, ...more }
    writeFileSync(join(data, 'keepup.json'), JSON.stringify({ mcp: { fake } }))
  }
  settings({})
  const script = (...calls: readonly (readonly [string, object])[]) => {
    const turns = [...calls, ['complete_task', { summary: 'done' }] as const].map(([tool, args]) => ({
      calls: [{ tool, arguments: args }],
    }))
    writeFileSync(join(root, 'script.json'), JSON.stringify({ script: 1, model: 's', turns }))
  }
  const keepup = (...args: string[]) => inProcess(['--data', data, ...args])
  const run = (...more: string[]) =>
    keepup('run', 'do it', '--model', `scripted:${join(root, 'script.json')}`, '-w', ws, ...more)
  const written = () =>
    readdirSync(data, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString('latin1'))
  return { data, ws, settings, script, keepup, run, written }
}

test('an agent calls the tools of a server, which has its secret and starts in the workspace; no record shows the secret', async () => {
  const { keepup, run, script, ws, written } = folder()
  process.env.TRACKER_KEY = VALUE
  onTestFinished(() => void delete process.env.TRACKER_KEY)
  script(['fake__echo', { words: 'hello' }], ['fake__env', {}], ['fake__cwd', {}])
  const { code, err } = await run()
  expect([code, err]).toEqual([0, expect.stringContaining('✓ fake:echo')])
  const id = /^run (\w+)$/m.exec(err)![1]!
  const [env, cwd] = await Promise.all([keepup('result', `${id}.t2.c0`), keepup('result', `${id}.t3.c0`)])
  expect(JSON.parse(env.out).API_KEY).toMatch(/^secret:ku_/)
  expect(cwd.out.trim()).toBe(ws)
  for (const text of written()) expect(text).not.toContain(VALUE)
})

test('an approval is void where the server has changed the tool since: the person sees why, and is asked anew', async () => {
  const { keepup, run, script, settings } = folder()
  process.env.TRACKER_KEY = VALUE
  onTestFinished(() => void delete process.env.TRACKER_KEY)
  script(['fake__pid', {}])
  const waiting = await run('--require-approval', 'fake:*')
  expect(waiting.code).toBe(8)
  const id = /^run (\w+)$/m.exec(waiting.err)![1]!
  settings({ effects: { pid: 'pure' } })
  expect((await keepup('approve', `${id}.t1.c0`)).code).toBe(0)
  const again = await keepup('resume', id)
  expect([again.code, again.err]).toEqual([8, expect.stringContaining('its MCP server has changed effect of fake:pid')])
  const shown = await keepup('runs', 'show', id)
  expect(`${shown.out}${shown.err}`).toContain('the approval is void: its MCP server has changed effect')
  expect((await keepup('approve', `${id}.t1.c0`)).code).toBe(0)
  expect((await keepup('resume', id)).err).toContain('✓ fake:pid')
})

test('an open approval is void when its server says that the tool has changed, though no driver waits for it', async () => {
  const { data, ws } = folder()
  process.env.TRACKER_KEY = VALUE
  onTestFinished(() => void delete process.env.TRACKER_KEY)
  const script = (...tools: string[]) => ({
    script: 1 as const,
    turns: tools.map((tool) => ({ calls: [{ tool, arguments: {} }] })),
  })
  // The other run waits too: a server ends with the last run that goes on.
  const scripts = { fires: script('fake__fire'), changes: script('fake__change', 'fake__fire') }
  const keepup = await openKeepUp({ data, scripts })
  onTestFinished(() => keepup.close())
  const start = async (name: string) => {
    const policy = { requiresApproval: ['fake:fire'] }
    const { runId } = await keepup.start({
      task: 'do it',
      model: `scripted:${name}`,
      workspace: ws,
      policy,
      drive: false,
    })
    await keepup.drive(runId)
    return runId
  }
  const waiting = await start('fires')
  await start('changes')
  const told = []
  for await (const { type, payload } of keepup.follow(waiting)) {
    if (type === 'approval_voided' || type === 'approval_requested') told.push({ type, payload })
    if (told.length === 3) break
  }
  expect(told).toMatchObject([
    { type: 'approval_requested' },
    { payload: { reason: 'its MCP server has changed description of fake:fire' } },
    { payload: { reason: 'the approval is void: its MCP server has changed description of fake:fire' } },
  ])
})

test('a policy that names a tool which a configured server does not have is refused at the start', async () => {
  const { run, script } = folder()
  process.env.TRACKER_KEY = VALUE
  onTestFinished(() => void delete process.env.TRACKER_KEY)
  script()
  const { code, err } = await run('--deny', 'fake:nothing')
  expect(code).not.toBe(0)
  expect(err).toContain('policy.deniedTools: there is no tool "fake:nothing"')
  expect((await run('--deny', 'fake:fire')).code).toBe(0)
})
