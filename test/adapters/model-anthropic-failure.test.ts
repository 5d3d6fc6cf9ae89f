import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { anthropicProvider } from '../../adapters/models/anthropic/provider.ts'
import { callBlock, start, streamEvents, textBlock, writeEvents } from '../support/models/anthropic-wire.ts'
import { bench } from '../support/models/model-bench.ts'
import { failure, request } from '../support/models/model-request.ts'
import { beginStream, sendJson } from '../support/network/loopback.ts'

const KEY = 'sk-ant-very+secret/0123456789='
const at = bench((baseUrl) => anthropicProvider({ apiKey: KEY, baseUrl }))
const serveEvents = (...events: Parameters<typeof streamEvents>[1]) => at.serve((res) => streamEvents(res, events))
const serveError = (status: number, type: string, message: string, headers: Record<string, string> = {}) =>
  at.serve((res) => sendJson(res, status, { type: 'error', error: { type, message } }, headers))

describe('a failure', () => {
  test.each([
    [429, 'rate_limit_error', 'slow down', 'RATE_LIMITED', true],
    [529, 'overloaded_error', 'Overloaded', 'OVERLOADED', true],
    [500, 'api_error', 'oops', 'OVERLOADED', true],
    [503, 'api_error', 'oops', 'OVERLOADED', true],
    [504, 'timeout_error', 'late', 'TIMEOUT', true],
    [400, 'invalid_request_error', 'bad field', 'INVALID_REQUEST', false],
    [400, 'invalid_request_error', 'prompt is too long: 200001 tokens > 200000 maximum', 'CONTEXT_OVERFLOW', false],
    [
      400,
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000',
      'CONTEXT_OVERFLOW',
      false,
    ],
    [413, 'request_too_large', 'too large', 'CONTEXT_OVERFLOW', false],
    [400, 'invalid_request_error', 'Your credit balance is too low', 'PERMISSION_DENIED', false],
    [401, 'authentication_error', 'invalid x-api-key', 'AUTHENTICATION', false],
    [403, 'permission_error', 'no', 'PERMISSION_DENIED', false],
    [404, 'not_found_error', 'model: x', 'NOT_FOUND', false],
  ])('of status %d %s (%s) is %s, transient %s, asked once', async (status, type, message, code, transient) => {
    const error = await failure(await serveError(status, type, message))
    expect(error).toMatchObject({ code, transient, message: `anthropic: ${message}` })
    expect(at.server.got.length).toBe(1)
  })

  test.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '3600' }, 60_000],
    [{ 'retry-after-ms': '1500', 'retry-after': '7' }, 1500],
    [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
    [{ 'retry-after': 'Wed, 21 Oct 2099 07:28:00 GMT' }, 60_000],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('with %j is retried after %s ms', async (headers, wait) => {
    expect((await failure(await serveError(429, 'rate_limit_error', 'x', headers as never))).retryAfterMs).toBe(wait)
  })

  test.each([
    ['overloaded_error', 'OVERLOADED', true],
    ['rate_limit_error', 'RATE_LIMITED', true],
    ['api_error', 'OVERLOADED', true],
    ['invalid_request_error', 'INVALID_REQUEST', false],
  ])('inside a stream (%s) is %s', async (type, code, transient) => {
    const provider = await serveEvents(start(), ...textBlock(0, 'half'), {
      type: 'error',
      error: { type, message: 'then it broke' },
    })
    expect(await failure(provider)).toMatchObject({ code, transient, message: 'anthropic: then it broke' })
  })

  test('of the network is transient', async () => {
    const provider = await serveEvents()
    await at.server.close()
    expect(await failure(provider)).toMatchObject({ code: 'NETWORK', transient: true })
  })

  test.each([
    ['destroyed', (res: ServerResponse) => res.destroy()],
    ['ended', (res: ServerResponse) => res.end()],
  ])('is half a stream, %s: transient, and no part of it is taken for an answer', async (_, cut) => {
    const provider = await at.serve((res) => {
      beginStream(res)
      writeEvents(res, [start(), ...callBlock(0, 'toolu_1', 'read_file', '{"path":"a"}')])
      setImmediate(() => cut(res))
    })
    expect(await failure(provider)).toMatchObject({ code: 'NETWORK', transient: true })
  })

  test.each([
    ['no JSON in an event', 'event: message_start\ndata: {"type":\n\n'],
    [
      'a block out of order',
      'event: content_block_start\ndata: {"type":"content_block_start","index":7,"content_block":{"type":"text"}}\n\n',
    ],
    [
      'a block without a type',
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{}}\n\n',
    ],
    [
      'a piece of no block',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}\n\n',
    ],
  ])('is garbage: %s', async (_, bytes) => {
    const provider = await at.serve((res) => {
      beginStream(res)
      res.end(bytes)
    })
    expect(await failure(provider)).toMatchObject({ code: 'INVALID_RESPONSE', transient: true })
  })

  test('an HTML page in place of the API', async () => {
    const provider = await at.serve((res) => {
      res.writeHead(200, { 'content-type': 'text/html' })
      res.end('<html>Welcome</html>')
    })
    expect(await failure(provider)).toMatchObject({ transient: true })
  })

  test('shows no key, whatever the server says, and keeps nothing of the response', async () => {
    const error = await failure(
      await serveError(
        401,
        'authentication_error',
        `bad key ${KEY}, ${encodeURIComponent(KEY)} in ${'x'.repeat(5000)}`,
      ),
    )
    expect(error.message).toContain('bad key [key], [key] in')
    const all = JSON.stringify([error, error.stack, error.cause])
    for (const form of [KEY, encodeURIComponent(KEY)]) expect(all).not.toContain(form)
  })
})

describe('an abort', () => {
  test('in mid-stream ends the call at once with its reason, and the server sees the connection close', async () => {
    const provider = await at.serve((res) => {
      beginStream(res)
      writeEvents(res, [start(), ...textBlock(0, 'first words')])
    })
    const abort = new AbortController()
    const reason = new Error('stop it')
    const call = provider.call(request(), { signal: abort.signal, onText: () => abort.abort(reason) })
    await expect(call).rejects.toBe(reason)
    expect(await at.server.got[0]!.closed).toEqual({ complete: false })
  })

  test('while no answer comes ends the call with its reason', async () => {
    const provider = await at.serve(() => undefined)
    const abort = new AbortController()
    const call = provider.call(request(), { signal: abort.signal })
    const got = await at.server.next()
    abort.abort(new DOMException('no answer in time', 'TimeoutError'))
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError', message: 'no answer in time' })
    expect(await got.closed).toEqual({ complete: false })
  })

  test('before the call sends nothing', async () => {
    const provider = await serveEvents()
    const reason = new Error('too late')
    await expect(provider.call(request(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(at.server.got).toEqual([])
  })
})
