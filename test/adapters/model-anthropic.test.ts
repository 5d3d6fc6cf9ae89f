import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { anthropicProvider } from '../../adapters/model-anthropic/provider.ts'
import type { Message } from '../../domain/agent/content.ts'
import { block, callBlock, start, stop, streamEvents, textBlock, writeEvents } from '../support/anthropic-wire.ts'
import { beginStream, type Got, type Loopback, loopback, sendJson } from '../support/loopback.ts'
import { ask, failure, never, request, result } from '../support/model-request.ts'

const KEY = 'sk-ant-very-secret-0123456789'
let server: Loopback
afterEach(() => server.close())

async function serve(answer: (res: ServerResponse, got: Got) => void) {
  server = await loopback(answer)
  return anthropicProvider({ apiKey: KEY, baseUrl: server.url })
}

const serveEvents = (...events: Parameters<typeof streamEvents>[1]) => serve((res) => streamEvents(res, events))
const serveError = (status: number, type: string, message: string, headers: Record<string, string> = {}) =>
  serve((res) => sendJson(res, status, { type: 'error', error: { type, message } }, headers))

/** The body of the one request that a conversation makes. */
async function sent(change: Parameters<typeof request>[0] = {}): Promise<Record<string, unknown>> {
  await ask(await serveEvents(start(), ...textBlock(0, 'ok'), ...stop('end_turn')), request(change))
  return server.got[0]!.body
}

describe('an answer', () => {
  test('streams text and a call, with usage, model and request id', async () => {
    const provider = await serveEvents(
      start({
        input_tokens: 10,
        output_tokens: 1,
        cache_read_input_tokens: 2000,
        cache_creation_input_tokens: 300,
        service_tier: 'standard',
      }),
      ...textBlock(0, 'Let me ', 'look.'),
      ...callBlock(1, 'toolu_1', 'read_file', '{"pa', 'th":"a.txt"}'),
      ...stop('tool_use', { output_tokens: 42 }),
    )
    expect(await ask(provider)).toEqual({
      content: [
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'a.txt' } },
      ],
      stopReason: 'tool_use',
      usage: { input: 10, output: 42, cacheRead: 2000, cacheWrite: 300 },
      servedBy: 'claude-served',
      requestId: 'req_1',
      pieces: ['Let me ', 'look.'],
    })
    expect(server.got[0]!.headers.authorization).toBe(`Bearer ${KEY}`)
  })

  test('keeps thinking, its signature, and kinds of blocks that nobody knows yet', async () => {
    const provider = await serveEvents(
      start(),
      ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
        { type: 'thinking_delta', thinking: 'Hm' },
        { type: 'thinking_delta', thinking: 'm.' },
        { type: 'signature_delta', signature: 'c2ln' },
      ]),
      ...block(1, { type: 'redacted_thinking', data: 'xyz' }, []),
      ...block(2, { type: 'text', text: '', citations: null }, [
        { type: 'text_delta', text: 'See.' },
        { type: 'citations_delta', citation: { url: 'u' } },
      ]),
      ...block(3, { type: 'from_the_future', deep: [{ a: 1 }] }, [{ type: 'unheard_of', x: 1 }]),
      ...stop('end_turn'),
    )
    expect((await ask(provider)).content).toEqual([
      { type: 'thinking', thinking: 'Hmm.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'xyz' },
      { type: 'text', text: 'See.', citations: [{ url: 'u' }] },
      { type: 'from_the_future', deep: [{ a: 1 }] },
    ])
  })

  test.each([
    ['end_turn', 'end_turn'],
    ['stop_sequence', 'end_turn'],
    ['max_tokens', 'max_tokens'],
    ['model_context_window_exceeded', 'max_tokens'],
    ['pause_turn', 'pause_turn'],
    ['refusal', 'refusal'],
    ['something_new', 'end_turn'],
  ])('that stops with %s is %s', async (said, meant) => {
    const provider = await serveEvents(start(), ...textBlock(0, 'x'), ...stop(said))
    expect((await ask(provider)).stopReason).toBe(meant)
  })

  test.each([
    ['no JSON', '{"path": "a.t'],
    ['no object', '["a"]'],
    ['a lone surrogate', '{"path":"\\ud800"}'],
    ['a number beyond JSON', '{"n":1e999}'],
  ])('whose arguments are %s keeps them as text', async (_, json) => {
    const provider = await serveEvents(
      start(),
      ...callBlock(0, 'toolu_1', 'read_file', json.slice(0, 4), json.slice(4)),
      ...stop('max_tokens'),
    )
    expect((await ask(provider)).content).toEqual([
      { type: 'tool_use', id: 'toolu_1', name: 'read_file', input_text: json },
    ])
  })

  test('has no two calls with one id, and no call without arguments', async () => {
    const provider = await serveEvents(
      start(),
      ...callBlock(0, 'same', 'read_file'),
      ...callBlock(1, 'same', 'read_file', '{}'),
      ...stop('tool_use'),
    )
    const { content } = await ask(provider)
    expect(content.map((b) => b.id)).toEqual(['same', 'same_2'])
    expect(content.map((b) => b.input)).toEqual([{}, {}])
  })

  test('puts a surrogate pair together that two pieces split, and replaces what is no character', async () => {
    const [high, low] = ['\ud83d', '\ude00']
    const provider = await serveEvents(
      start(),
      ...textBlock(0, `a${high}`, `${low}b\u0000`, '\udc00'),
      ...stop('end_turn'),
    )
    const answer = await ask(provider)
    expect(answer.content).toEqual([{ type: 'text', text: 'a😀b��' }])
    expect(answer.pieces.join('')).toBe('a😀b��')
  })

  test('with invalid UTF-8 is replaced, not refused', async () => {
    const provider = await serve((res) => {
      beginStream(res)
      writeEvents(res, [start()])
      res.write(
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a',
      )
      res.write(Buffer.from([0xff, 0xfe]))
      res.write('b"}}\n\n')
      writeEvents(res, stop('end_turn'))
      res.end()
    })
    expect((await ask(provider)).content).toEqual([{ type: 'text', text: 'a��b' }])
  })

  test('that a server sends in one piece is read as well', async () => {
    const provider = await serve((res) =>
      sendJson(res, 200, {
        type: 'message',
        model: 'm',
        content: [{ type: 'text', text: 'whole' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 3, output_tokens: 4 },
      }),
    )
    const answer = await ask(provider)
    expect(answer.content).toEqual([{ type: 'text', text: 'whole' }])
    expect(answer.usage).toEqual({ input: 3, output: 4, cacheRead: 0, cacheWrite: 0 })
    expect(answer.pieces).toEqual(['whole'])
  })
})

describe('a request', () => {
  test('marks tools, system and the last two user messages for the cache, and nothing else', async () => {
    const cache = { cache_control: { type: 'ephemeral' } }
    const body = await sent({
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
        { role: 'user', content: 'three' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'read_file', input: {} }] },
        result('t1', 'four'),
      ],
    })
    expect(body.system).toEqual([{ type: 'text', text: 'You are a tester.', ...cache }])
    expect((body.tools as object[]).map((t) => 'cache_control' in t)).toEqual([false, true])
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'one' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
      { role: 'user', content: [{ type: 'text', text: 'three', ...cache }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'read_file', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'four', ...cache }] },
    ])
  })

  test('puts results right after their calls, then input and system messages', async () => {
    const body = await sent({
      messages: [
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'a', name: 'read_file', input: {} },
            { type: 'tool_use', id: 'b', name: 'read_file', input: {} },
          ],
        },
        { role: 'system', content: 'Be quick.' },
        result('a', 'A'),
        { role: 'user', content: 'and?' },
        result('b', '', true),
      ],
    })
    expect((body.messages as { content: unknown[] }[])[2]!.content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'a', content: 'A' },
      { type: 'tool_result', tool_use_id: 'b', content: '(no message)', is_error: true },
      { type: 'text', text: '<system>\nBe quick.\n</system>' },
      { type: 'text', text: 'and?' },
    ])
  })

  test('gives blocks back as they came, and leaves out or converts those of other providers', async () => {
    const own = [
      { type: 'thinking', thinking: '', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'text', text: 'said', citations: null },
      { type: 'from_the_future', x: 1 },
      { type: 'tool_use', id: 't', name: 'read_file', input: { path: 'é' }, caller: { type: 'direct' } },
    ]
    const foreign = [
      { type: 'script', part: -1, turn: 0 },
      { type: 'reasoning', text: 'hm' },
      { type: 'thinking', thinking: 'unsigned', signature: '' },
      { type: 'text', text: ' \n' },
      { type: 'tool_use', id: 'call_0', name: 'read_file', input_text: '{"path":"x"}' },
      { type: 'tool_use', id: 'call_1', name: 'made.up tool', input_text: '{"path' },
    ]
    const body = await sent({
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: own },
        result('t', 'r'),
        { role: 'assistant', content: foreign },
        result('call_0', 'r'),
        result('call_1', 'r', true),
      ],
    })
    const messages = body.messages as { content: unknown[] }[]
    expect(messages[1]!.content).toEqual(own)
    expect(messages[3]!.content).toEqual([
      { type: 'tool_use', id: 'call_0', name: 'read_file', input: { path: 'x' } },
      { type: 'tool_use', id: 'call_1', name: 'made_up_tool', input: { raw_arguments: '{"path' } },
    ])
  })

  test('names a repeated call id anew, with its result', async () => {
    const call: Message = { role: 'assistant', content: [{ type: 'tool_use', id: 'call 0', name: 'f', input: {} }] }
    const body = await sent({
      messages: [{ role: 'user', content: 'go' }, call, result('call 0', '1'), call, result('call 0', '2')],
    })
    expect(body.messages).toMatchObject([
      {},
      { content: [{ id: 'call_0' }] },
      { content: [{ tool_use_id: 'call_0', content: '1' }] },
      { content: [{ id: 'call_0_2' }] },
      { content: [{ tool_use_id: 'call_0_2', content: '2' }] },
    ])
  })

  test.each([
    [{ toolChoice: 'any' as const }, { type: 'any', disable_parallel_tool_use: true }],
    [{ toolChoice: 'any' as const, parallelCalls: true }, { type: 'any' }],
    [{ toolChoice: 'auto' as const }, { type: 'auto', disable_parallel_tool_use: true }],
    [
      { toolChoice: { name: 'complete_task' } },
      { type: 'tool', name: 'complete_task', disable_parallel_tool_use: true },
    ],
  ])('with %j chooses %j', async (change, choice) => {
    expect((await sent(change)).tool_choice).toEqual(choice)
  })

  test('without tools and system has neither', async () => {
    const body = await sent({ tools: [], system: '' })
    expect(Object.keys(body).sort()).toEqual(['max_tokens', 'messages', 'model', 'stream'])
  })

  test.each([
    ['claude-opus-5-5', 'auto' as const, true],
    ['claude-fable-5-1', 'auto' as const, true],
    ['claude-opus-5', 'auto' as const, false],
    ['claude-haiku-4-5-20251001', 'auto' as const, false],
    ['claude-haiku-5-5', 'any' as const, false],
  ])('to %s with %s: drops thinking that a changed prefix made invalid: %s', async (model, toolChoice, drops) => {
    const body = await sent({ model, toolChoice })
    const wanted = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } }
    expect(body.thinking).toEqual(drops ? wanted : undefined)
    expect(server.got[0]!.headers['anthropic-beta']).toBe(drops ? 'thinking-binding-controls-2026-08-01' : undefined)
    expect(body.betas).toBeUndefined()
  })
})

describe('a failure', () => {
  test.each([
    [429, 'rate_limit_error', 'slow down', 'RATE_LIMITED', true],
    [529, 'overloaded_error', 'Overloaded', 'OVERLOADED', true],
    [500, 'api_error', 'oops', 'OVERLOADED', true],
    [503, 'api_error', 'oops', 'OVERLOADED', true],
    [504, 'timeout_error', 'late', 'TIMEOUT', true],
    [400, 'invalid_request_error', 'bad field', 'INVALID_REQUEST', false],
    [400, 'invalid_request_error', 'prompt is too long: 200001 tokens > 200000 maximum', 'CONTEXT_OVERFLOW', false],
    [400, 'invalid_request_error', 'input length and `max_tokens` exceed context limit', 'INVALID_REQUEST', false],
    [413, 'request_too_large', 'too large', 'CONTEXT_OVERFLOW', false],
    [400, 'invalid_request_error', 'Your credit balance is too low', 'PERMISSION_DENIED', false],
    [401, 'authentication_error', 'invalid x-api-key', 'AUTHENTICATION', false],
    [403, 'permission_error', 'no', 'PERMISSION_DENIED', false],
    [404, 'not_found_error', 'model: x', 'NOT_FOUND', false],
  ])('of status %d %s (%s) is %s, transient %s, asked once', async (status, type, message, code, transient) => {
    const error = await failure(await serveError(status, type, message))
    expect(error).toMatchObject({ code, transient, message: `anthropic: ${message}` })
    expect(server.got.length).toBe(1)
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
    await server.close()
    expect(await failure(provider)).toMatchObject({ code: 'NETWORK', transient: true })
  })

  test.each([
    ['destroyed', (res: ServerResponse) => res.destroy()],
    ['ended', (res: ServerResponse) => res.end()],
  ])('is half a stream, %s: transient, and no part of it is taken for an answer', async (_, cut) => {
    const provider = await serve((res) => {
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
    const provider = await serve((res) => {
      beginStream(res)
      res.end(bytes)
    })
    expect(await failure(provider)).toMatchObject({ code: 'INVALID_RESPONSE', transient: true })
  })

  test('is a page that is no API', async () => {
    const provider = await serve((res) => {
      res.writeHead(200, { 'content-type': 'text/html' })
      res.end('<html>Welcome</html>')
    })
    expect(await failure(provider)).toMatchObject({ transient: true })
  })

  test('shows no key, whatever the server says, and keeps nothing of the response', async () => {
    const error = await failure(await serveError(401, 'authentication_error', `bad key ${KEY} in ${'x'.repeat(5000)}`))
    expect(error.message).toContain('bad key [key] in')
    expect(error.message.length).toBeLessThan(700)
    expect(JSON.stringify([error, error.stack, error.cause])).not.toContain(KEY)
  })
})

describe('an abort', () => {
  test('in mid-stream ends the call at once with its reason, and the server sees the connection close', async () => {
    const provider = await serve((res) => {
      beginStream(res)
      writeEvents(res, [start(), ...textBlock(0, 'first words')])
    })
    const abort = new AbortController()
    const reason = new Error('stop it')
    const call = provider.call(request(), { signal: abort.signal, onText: () => abort.abort(reason) })
    await expect(call).rejects.toBe(reason)
    expect(await server.got[0]!.closed).toEqual({ complete: false })
  })

  test('while no answer comes ends the call with its reason', async () => {
    const provider = await serve(() => undefined)
    const abort = new AbortController()
    const call = provider.call(request(), { signal: abort.signal })
    const got = await server.next()
    abort.abort(new DOMException('no answer in time', 'TimeoutError'))
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError', message: 'no answer in time' })
    expect(await got.closed).toEqual({ complete: false })
  })

  test('before the call sends nothing', async () => {
    const provider = await serveEvents()
    const reason = new Error('too late')
    await expect(provider.call(request(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(server.got).toEqual([])
  })
})

test('a bearer token serves in place of a key', async () => {
  server = await loopback((res) => streamEvents(res, [start(), ...textBlock(0, 'ok'), ...stop('end_turn')]))
  const provider = anthropicProvider({ apiKey: null, authToken: 'tok', baseUrl: server.url })
  await provider.call(request(), { signal: never() })
  expect(server.got[0]!.headers).toMatchObject({ authorization: 'Bearer tok' })
})
