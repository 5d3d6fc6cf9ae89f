import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { bodyLimit } from '../../../api/http/app.ts'
import { listenTcp } from '../../../api/process/owner/listen.ts'
import { openWorld, TOKEN } from '../support/http.ts'

const world = await openWorld()
const listening = await listenTcp((asked) => world.http.fetch(asked), '127.0.0.1', 0)
afterAll(async () => {
  await listening.close(0)
  await world.close()
})
const { port } = listening.server.address() as AddressInfo

interface Answer {
  readonly status: number
  readonly code: unknown
}

/** Asks over a real socket, where a request is what node:http and the server's adapter make of it. */
function ask(
  method: string,
  path: string,
  headers: Record<string, string>,
  chunks: readonly (string | Buffer)[] = [],
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, agent: false }
    const outgoing = request({ ...options, headers: { authorization: `Bearer ${TOKEN}`, ...headers } }, (incoming) => {
      let text = ''
      incoming.setEncoding('utf8')
      incoming.on('data', (chunk: string) => {
        text += chunk
      })
      incoming.on('end', () => {
        const body = text.startsWith('{') ? (JSON.parse(text) as { code?: unknown }) : {}
        resolve({ status: incoming.statusCode ?? 0, code: body.code })
      })
    })
    outgoing.once('error', reject)
    for (const chunk of chunks) outgoing.write(chunk)
    outgoing.end()
  })
}

const JSON_TYPE = { 'content-type': 'application/json' }
const CHUNKED = { ...JSON_TYPE, 'transfer-encoding': 'chunked' }

const document = (await (await world.ask('GET', '/v1/openapi.json')).json()) as { paths: Record<string, object> }
const bodied = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods)
    .filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
    .map((method) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'nothing')] as const),
)

describe('over a real socket', () => {
  it('there are routes to look at', () => expect(bodied.length).toBeGreaterThan(10))

  it.each(bodied)('%s %s answers a body that is not there, empty, in pieces, or too large', async (method, path) => {
    const none = await ask(method, path, {})
    const empty = await ask(method, path, { ...JSON_TYPE, 'content-length': '0' })
    const pieces = await ask(method, path, CHUNKED, ['{', '"nothing_that_is_known"', ':1}'])
    const limit = bodyLimit(path) ?? 8000
    const large = await ask(method, path, CHUNKED, Array(9).fill(Buffer.alloc(Math.ceil(limit / 8), 0x20)))
    for (const { status } of [none, empty, pieces]) expect(status).toBeLessThan(500)
    expect(large).toEqual({ status: 413, code: 'REQUEST_TOO_LARGE' })
    expect(
      await ask(method, path, { ...JSON_TYPE, 'content-length': `${limit + 1}` }, [Buffer.alloc(limit + 1)]),
    ).toEqual(large)
    expect(world.faults).toEqual([])
  })

  it('an idle connection stays open for longer than proxies keep one', async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/health`)
    await answer.arrayBuffer()
    const [, seconds] = /^timeout=(\d+)$/.exec(answer.headers.get('keep-alive') ?? '') ?? []
    expect(Number(seconds)).toBeGreaterThan(60)
  })

  it('a body that its sender breaks off is no fault of the server', async () => {
    const options = { host: '127.0.0.1', port, method: 'POST', path: '/v1/runs', agent: false }
    const outgoing = request({ ...options, headers: { authorization: `Bearer ${TOKEN}`, ...CHUNKED } })
    outgoing.once('error', () => undefined)
    const begun = once(listening.server, 'request') as Promise<[IncomingMessage]>
    outgoing.write('{"task": ')
    const [incoming] = await begun
    const closed = once(incoming, 'close').catch(() => undefined)
    outgoing.destroy()
    await closed
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate)
    expect(world.faults).toEqual([])
  })

  it('a run is started by a body in pieces, and by one of a known length', async () => {
    const body = JSON.stringify({ task: 'finish', model: world.model, drive: false })
    const half = body.length / 2
    expect(await ask('POST', '/v1/runs', CHUNKED, [body.slice(0, half), body.slice(half)])).toMatchObject({
      status: 201,
    })
    const length = { ...JSON_TYPE, 'content-length': String(body.length) }
    expect(await ask('POST', '/v1/runs', length, [body])).toMatchObject({ status: 201 })
  })
})
