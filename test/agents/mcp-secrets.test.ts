import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { inProcess } from '../api/support/cli.ts'
import { formsOf, placesOf } from '../support/faults/scan.ts'
import { mcpOverHttp } from '../support/mcp/http-server.ts'
import { CLONE, fake } from '../support/mcp/servers.ts'

// Law 8 at the newest places: what MCP servers are given and what they say, memories, knowledge, plans and tasks.

const VALUE = 'tr4cker+Key/"99"&more~Zq'
const PUBLIC = 'a public word, which the search finds'
const TASK = `task ${PUBLIC}`

/** A server over HTTP that repeats its headers and its address as the result of each call. */
async function echoing(): Promise<number> {
  const about: { url?: string; headers?: object } = {}
  const answer = mcpOverHttp((res, id) => {
    const text = JSON.stringify(about)
    const body = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } }
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const listener: RequestListener = (req, res) => {
    Object.assign(about, { url: decodeURIComponent(req.url ?? ''), headers: req.headers })
    void answer(res, req)
  }
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

test('secrets of MCP servers are nowhere in what keepup writes: results, errors, memories, knowledge, plans, tasks', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-mcp-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const [data, ws, config] = [join(root, 'data'), join(root, 'ws'), join(root, 'keepup.json')]
  for (const folder of [data, ws]) mkdirSync(folder)
  process.env.TRACKER_KEY = VALUE
  onTestFinished(() => void delete process.env.TRACKER_KEY)
  const url = `http://127.0.0.1:${await echoing()}/mcp?key=${encodeURIComponent(VALUE)}`
  // Not a name under which any value counts as a secret.
  const secretEnv = { TRACKER: 'TRACKER_KEY' }
  const mcp = {
    fake: { ...fake(), command: [process.execPath, ...fake().command.slice(1)], readable: [CLONE], secretEnv },
    web: { url, headers: { 'x-key': 'TRACKER_KEY' } },
    // Its address is told in the reason why it cannot be had.
    gone: { url: `http://127.0.0.1:9/${encodeURIComponent(VALUE)}`, connectMs: 5_000 },
  }
  const knowledge = [{ name: 'team', text: `The key is ${VALUE}. ${PUBLIC}` }]
  writeFileSync(config, JSON.stringify({ mcp, knowledge }))
  const says = (name: string, tool: string, args: object) => ({ calls: [{ tool, arguments: args }], text: name })
  const keepup = (...args: string[]) => inProcess(['--data', data, '--config', config, ...args])
  const run = async (turns: readonly object[], ...more: string[]) => {
    const script = join(root, 'script.json')
    writeFileSync(script, JSON.stringify({ script: 1, model: 's', turns }))
    return keepup('run', TASK, '--model', `scripted:${script}`, '-w', ws, ...more)
  }
  const plan = { type: 'plan', title: `Plan ${VALUE}`, content: `Use ${VALUE}. ${PUBLIC}` }
  const end = says('the end', 'complete_task', { summary: 'done' })
  // A run that is given no secret of the servers shows none either.
  const given = await run([
    says('its environment', 'fake__env', {}),
    says('its headers and address', 'web__echo', {}),
    end,
  ])
  const turns = [
    says('its argument', 'fake__echo', { words: VALUE }),
    says('no such file', 'fake__read', { words: `/${VALUE}` }),
    says('a fact', 'remember', { text: `The key is ${VALUE}. ${PUBLIC}`, scope: 'global' }),
    says('facts', 'recall', { query: `key ${VALUE}` }),
    says('tasks', 'update_tasks', { tasks: [{ id: 'a', title: `Use ${VALUE}` }] }),
    says('the end', 'complete_task', { summary: `Done with ${VALUE}.` }),
  ]
  const free = await run(turns, '--secret', 'TRACKER_KEY=@server:fake')
  const planning = says('a plan', 'advance_phase', { summary: 'planned', artifacts: [plan] })
  const planned = await run([planning, end], '--role', 'researcher')
  const forms = formsOf(VALUE)
  const tools = await keepup('tools')
  expect(tools.err).toContain('MCP server "gone" cannot be reached')
  for (const { out, err } of [given, free, planned, tools]) {
    expect(forms.filter((form) => `${out}${err}`.includes(form))).toEqual([])
  }
  expect([given.code, free.code]).toEqual([0, 0])
  for (const shown of ['fake:env', 'web:echo']) expect(given.err).toContain(`✓ ${shown}`)
  for (const shown of ['fake:echo', 'remember', 'recall', 'update_tasks']) expect(free.err).toContain(`✓ ${shown}`)
  // The search sees into rows and files: what is no secret is found where the secret would be.
  const found = placesOf([PUBLIC], data).join(' ')
  for (const where of ['log/log.db: bodies', 'plans/']) expect(found).toContain(where)
  expect(readdirSync(join(data, 'plans')).length).toBeGreaterThan(0)
  expect(placesOf(forms, data)).toEqual([])
})
