import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { McpPool } from '../../../adapters/mcp/pool.ts'
import { McpServers } from '../../../adapters/mcp/settings.ts'
import { mcpOverHttp } from '../../support/mcp/http-server.ts'
import { toolContext, webServer } from '../../support/network/web-server.ts'

const answer = JSON.stringify({ jsonrpc: '2.0', id: 0, result: { content: [{ type: 'text', text: 'hi' }] } })
const ANSWERS = mcpOverHttp((res, id) =>
  res.writeHead(200, { 'content-type': 'application/json' }).end(answer.replace('"id":0', `"id":${id}`)),
)

/** A clock whose waits end when the test says so, unless they are called off. */
function heldClock() {
  const waits: { readonly ms: number; readonly end: () => void; readonly signal: AbortSignal | undefined }[] = []
  const sleep = (ms: number, signal?: AbortSignal) => {
    if (ms === 0) return Promise.resolve()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
    waits.push({ ms, end: resolve, signal })
    return promise
  }
  return { waits, clock: { now: () => 0, sleep } }
}

async function pooled(serve: Parameters<typeof webServer>[0] = ANSWERS) {
  const server = await webServer(serve)
  const { waits, clock } = heldClock()
  const warnings: string[] = []
  const pool = new McpPool({
    settings: McpServers.parse({ h: { url: server.url } }),
    program: () => process.execPath,
    secret: async () => '',
    env: {},
    hidden: async () => [],
    dataFolder: '/nowhere',
    clock,
    version: '1',
    warn: (text) => warnings.push(text),
  })
  onTestFinished(() => pool.close())
  return { server, pool, waits, warnings }
}

test('all leases of a server share one connection, whatever the folder of an address', async () => {
  const { pool, server } = await pooled()
  const [one, two] = await Promise.all([pool.lease('h', '/a'), pool.lease('h', '/b')])
  const asked = server.asked.length
  const three = await pool.lease('h', '/c')
  expect(server.asked.length).toBe(asked)
  for (const { tools } of [one, two, three]) expect(tools().map(({ spec }) => spec.name)).toEqual(['h:echo'])
  expect(await three.tools()[0]!.run({}, toolContext())).toMatchObject({ content: 'hi' })
})

test('a connection ends some time after its last release, and a lease before that keeps it', async () => {
  const { pool, waits, server } = await pooled()
  const [one, two] = [await pool.lease('h', '/'), await pool.lease('h', '/')]
  one.release()
  one.release()
  expect(waits).toEqual([])
  two.release()
  expect(waits.map(({ ms }) => ms)).toEqual([30_000])
  const again = await pool.lease('h', '/')
  expect(waits[0]?.signal?.aborted).toBe(true)
  again.release()
  waits[1]?.end()
  await setImmediate()
  const before = server.asked.length
  await pool.lease('h', '/')
  expect(server.asked.length).toBeGreaterThan(before)
})

test('a server that could not be reached is tried again at the next lease', async () => {
  let up = false
  const { pool, warnings, waits } = await pooled((res, req) => (up ? ANSWERS(res, req) : void res.writeHead(503).end()))
  const one = await pool.lease('h', '/')
  expect(one.tools()).toEqual([])
  expect(one.faults).toEqual([expect.stringContaining('MCP server "h" cannot be reached')])
  expect(warnings).toEqual(one.faults)
  up = true
  const next = pool.lease('h', '/')
  await expect.poll(() => waits.length).toBe(1)
  waits[0]?.end()
  const two = await next
  expect([two.faults, two.tools().length]).toEqual([[], 1])
})

test('a closed pool gives no lease', async () => {
  const { pool } = await pooled()
  const { release } = await pool.lease('h', '/')
  await pool.close()
  release()
  await expect(pool.lease('h', '/')).rejects.toThrow('have been closed')
})

test('knows which tools are of its servers', async () => {
  const { pool } = await pooled()
  expect(['h:echo', 'h', 'other:echo', 'toString:x'].map((name) => pool.serverOf(name))).toEqual([
    'h',
    null,
    null,
    null,
  ])
})
