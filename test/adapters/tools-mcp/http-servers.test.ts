import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { mcpOverHttp } from '../../support/mcp/http-server.ts'
import { opened } from '../../support/mcp/servers.ts'
import { webServer } from '../../support/network/web-server.ts'

const result = (id: number, text: string) =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })

test.each([
  [
    'as JSON',
    (res: ServerResponse, id: number) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end(result(id, 'hi')),
  ],
  [
    'as an event stream',
    (res: ServerResponse, id: number) =>
      res.writeHead(200, { 'content-type': 'text/event-stream' }).end(`event: message\ndata: ${result(id, 'hi')}\n\n`),
  ],
])('a server that answers %s is called, with its headers from secrets', async (_, onCall) => {
  const server = await webServer(mcpOverHttp(onCall))
  const { call, warnings } = await opened({
    h: { type: 'http', url: `${server.url}/mcp`, headers: { authorization: 'TOKEN' } },
  })
  expect(warnings).toEqual([])
  expect(await call('h:echo')).toMatchObject({ content: 'hi' })
  expect(server.headers.every(({ authorization }) => authorization === 'value of TOKEN')).toBe(true)
})

test.each<[string, (res: ServerResponse, id: number) => void, object]>([
  ['429', (res) => res.writeHead(429).end(), { code: 'RATE_LIMITED', transient: true, beforeEffect: true }],
  ['503', (res) => res.writeHead(503).end(), { code: 'EXECUTION_FAILED', transient: true }],
  ['403', (res) => res.writeHead(403).end(), { code: 'EXECUTION_FAILED', transient: false }],
  ['a broken connection', (res) => res.destroy(), { code: 'EXECUTION_FAILED', transient: true, beforeEffect: false }],
  [
    'an endless answer',
    (res) => {
      res.writeHead(200, { 'content-type': 'application/json' })
      const more = () => {
        while (res.write(Buffer.alloc(1 << 20, ' '))) if (res.destroyed) return
      }
      res.on('drain', more)
      more()
    },
    { code: 'EXECUTION_FAILED', message: expect.stringContaining('more than 8388608 bytes') },
  ],
])('a call that is answered with %s is a failure', async (_, onCall, expected) => {
  const server = await webServer(mcpOverHttp(onCall))
  const { call } = await opened({ h: { type: 'http', url: server.url } })
  expect(await call('h:echo')).toMatchObject({ name: 'ToolError', ...expected })
})

test('a redirect is not followed, so that no header reaches another host', async () => {
  const other = await webServer((res) => res.end())
  const server = await webServer((res) => res.writeHead(307, { location: other.url }).end())
  const { warnings } = await opened({ h: { type: 'http', url: server.url, headers: { authorization: 'TOKEN' } } })
  expect(warnings).toEqual([expect.stringContaining('the server redirects to another address')])
  expect(other.asked).toEqual([])
})

test('a server that refuses connections has no tools, and a warning says why', async () => {
  const { tools, warnings } = await opened({ h: { type: 'http', url: 'http://127.0.0.1:1/' } })
  expect(tools()).toEqual([])
  expect(warnings).toEqual([expect.stringContaining('MCP server "h" cannot be reached')])
})
