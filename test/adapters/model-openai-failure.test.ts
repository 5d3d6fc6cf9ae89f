import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { openaiProvider } from '../../adapters/models/openai/provider.ts'
import { bench } from '../support/models/model-bench.ts'
import { failure, request } from '../support/models/model-request.ts'
import { call, delta, streamChunks, writeChunks } from '../support/models/openai-wire.ts'
import { beginStream, sendJson } from '../support/network/loopback.ts'

const KEY = 'sk-proj-very-secret-0123456789'
const at = bench((url) => openaiProvider({ apiKey: KEY, baseUrl: `${url}/v1` }))
const serveChunks = (...chunks: Parameters<typeof streamChunks>[1]) => at.serve((res) => streamChunks(res, chunks))
const serveError = (status: number, error: unknown, headers: Record<string, string> = {}) =>
  at.serve((res) => sendJson(res, status, { error }, headers))

const said = (text: string) => [delta({ role: 'assistant', content: text })]

describe('a failure', () => {
  test.each([
    [429, { type: 'requests', code: 'rate_limit_exceeded', message: 'slow' }, 'RATE_LIMITED', true],
    [429, { type: 'insufficient_quota', code: 'insufficient_quota', message: 'pay' }, 'PERMISSION_DENIED', false],
    [500, { type: 'server_error', message: 'oops' }, 'OVERLOADED', true],
    [503, { type: 'server_error', message: 'oops' }, 'OVERLOADED', true],
    [408, { message: 'late' }, 'TIMEOUT', true],
    [400, { type: 'invalid_request_error', message: 'bad' }, 'INVALID_REQUEST', false],
    [400, { code: 'context_length_exceeded', message: 'long' }, 'CONTEXT_OVERFLOW', false],
    [
      400,
      { code: 400, type: 'exceed_context_size_error', message: 'the request exceeds the available context size' },
      'CONTEXT_OVERFLOW',
      false,
    ],
    [400, { message: "This model's maximum context length is 8192 tokens." }, 'CONTEXT_OVERFLOW', false],
    [401, { code: 'invalid_api_key', message: 'bad key' }, 'AUTHENTICATION', false],
    [403, { message: 'no' }, 'PERMISSION_DENIED', false],
    [404, { code: 'model_not_found', message: 'none' }, 'NOT_FOUND', false],
  ])('of status %d with %j is %s, transient %s, asked once', async (status, error, code, transient) => {
    expect(await failure(await serveError(status, error))).toMatchObject({ code, transient })
    expect(at.server.got.length).toBe(1)
  })

  test('with Retry-After says how long to wait, at most a minute', async () => {
    expect((await failure(await serveError(429, {}, { 'retry-after': '2' }))).retryAfterMs).toBe(2000)
    expect((await failure(await serveError(503, {}, { 'retry-after': '999' }))).retryAfterMs).toBe(60_000)
  })

  test.each([
    [{ type: 'server_error', message: 'broke' }, 'OVERLOADED', true],
    [{ code: 500, message: 'broke' }, 'OVERLOADED', true],
    [{ code: 'context_length_exceeded', message: 'broke' }, 'CONTEXT_OVERFLOW', false],
    ['broke', 'OVERLOADED', true],
  ])('inside a stream (%j) is %s', async (error, code, transient) => {
    const failed = await failure(await serveChunks(...said('half'), { error }))
    expect(failed).toMatchObject({ code, transient, message: 'openai: broke' })
  })

  test.each([
    ['destroyed', (res: ServerResponse) => res.destroy()],
    ['ended', (res: ServerResponse) => res.end()],
  ])('is half a stream, %s: transient, and no part of it is taken for an answer', async (_, cut) => {
    const provider = await at.serve((res) => {
      beginStream(res)
      writeChunks(res, [call({ index: 0, id: 'a', name: 'f', args: '{}' })])
      setImmediate(() => cut(res))
    })
    expect(await failure(provider)).toMatchObject({ code: 'NETWORK', transient: true })
  })

  test.each(['data: {"choices"\n\n', 'data: nonsense\n\n'])('is garbage: %j', async (bytes) => {
    const provider = await at.serve((res) => {
      beginStream(res)
      res.end(bytes)
    })
    expect(await failure(provider)).toMatchObject({ code: 'INVALID_RESPONSE', transient: true })
  })

  test('is a document of another format than JSON', async () => {
    const provider = await at.serve((res) => {
      res.writeHead(200, { 'content-type': 'application/json' })
      res.end('{"choices":')
    })
    expect(await failure(provider)).toMatchObject({ code: 'INVALID_RESPONSE', transient: true })
  })

  test('of the network is transient', async () => {
    const provider = await serveChunks()
    await at.server.close()
    expect(await failure(provider)).toMatchObject({ code: 'NETWORK', transient: true })
  })

  test('shows no key, whatever the server says', async () => {
    const error = await failure(await serveError(401, { message: `Incorrect API key provided: ${KEY}` }))
    expect(error.message).toBe('openai: Incorrect API key provided: [key]')
    expect(JSON.stringify([error, error.stack, error.cause])).not.toContain(KEY)
  })
})

describe('an abort', () => {
  test('in mid-stream ends the call at once with its reason, and the server sees the connection close', async () => {
    const provider = await at.serve((res) => {
      beginStream(res)
      writeChunks(res, said('first words'))
    })
    const abort = new AbortController()
    const reason = new Error('stop it')
    const pending = provider.call(request(), { signal: abort.signal, onText: () => abort.abort(reason) })
    await expect(pending).rejects.toBe(reason)
    expect(await at.server.got[0]!.closed).toEqual({ complete: false })
  })

  test('while no answer comes ends the call with its reason', async () => {
    const provider = await at.serve(() => undefined)
    const abort = new AbortController()
    const pending = provider.call(request(), { signal: abort.signal })
    const got = await at.server.next()
    abort.abort(new DOMException('no answer in time', 'TimeoutError'))
    await expect(pending).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(await got.closed).toEqual({ complete: false })
  })
})
