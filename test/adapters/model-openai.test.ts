import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { openaiProvider } from '../../adapters/model-openai/provider.ts'
import { toParams } from '../../adapters/model-openai/request.ts'
import type { Message } from '../../domain/agent/content.ts'
import { beginStream, type Got, type Loopback, loopback, sendJson } from '../support/loopback.ts'
import { ask, failure, never, request, result } from '../support/model-request.ts'
import { call, delta, finish, streamChunks, usage, writeChunks } from '../support/openai-wire.ts'

const KEY = 'sk-proj-very-secret-0123456789'
let server: Loopback | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

async function serve(answer: (res: ServerResponse, got: Got) => void) {
  server = await loopback(answer)
  return openaiProvider({ apiKey: KEY, baseUrl: `${server.url}/v1` })
}

const serveChunks = (...chunks: Parameters<typeof streamChunks>[1]) => serve((res) => streamChunks(res, chunks))
const serveError = (status: number, error: unknown, headers: Record<string, string> = {}) =>
  serve((res) => sendJson(res, status, { error }, headers))

const said = (text: string) => [delta({ role: 'assistant', content: text })]
const count = usage({ prompt_tokens: 1, completion_tokens: 1 })

describe('an answer', () => {
  test('streams text and a call, with usage, model and request id', async () => {
    const provider = await serveChunks(
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'Let me ' }),
      delta({ content: 'look.' }),
      call({ index: 0, id: 'call_a', name: 'read_file', args: '' }),
      call({ index: 0, args: '{"path": ' }),
      call({ index: 0, args: '"a.txt"}' }),
      finish('tool_calls'),
      usage({
        prompt_tokens: 2310,
        completion_tokens: 42,
        prompt_tokens_details: { cached_tokens: 2000, cache_write_tokens: 300 },
      }),
    )
    expect(await ask(provider)).toEqual({
      content: [
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'call_a', name: 'read_file', input_text: '{"path": "a.txt"}' },
      ],
      stopReason: 'tool_use',
      usage: { input: 10, output: 42, cacheRead: 2000, cacheWrite: 300 },
      servedBy: 'gpt-served',
      requestId: 'req_2',
      pieces: ['Let me ', 'look.'],
    })
    expect(server!.got[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${KEY}` },
      body: { stream: true, stream_options: { include_usage: true } },
    })
  })

  test.each([
    ['reasoning_content', { type: 'reasoning', text: 'Hmm.' }],
    ['reasoning', { type: 'reasoning', text: 'Hmm.', member: 'reasoning' }],
  ])('keeps what came as %s, and gives it back so', async (member, block) => {
    const provider = await serveChunks(
      delta({ [member]: 'Hm' }),
      delta({ [member]: 'm.' }),
      ...said('Yes.'),
      finish('stop'),
      count,
    )
    const { content } = await ask(provider)
    expect(content).toEqual([block, { type: 'text', text: 'Yes.' }])
    await ask(
      provider,
      request({
        messages: [
          { role: 'user', content: 'go' },
          { role: 'assistant', content },
        ],
      }),
    )
    expect((server!.got[1]!.body.messages as unknown[])[2]).toEqual({
      role: 'assistant',
      content: 'Yes.',
      [member]: 'Hmm.',
    })
  })

  test.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['something_new', 'end_turn'],
  ])('that finishes with %s is %s', async (reason, meant) => {
    expect((await ask(await serveChunks(...said('x'), finish(reason), count))).stopReason).toBe(meant)
  })

  test('that refuses is a refusal, its words kept', async () => {
    const answer = await ask(
      await serveChunks(delta({ refusal: 'I will ' }), delta({ refusal: 'not.' }), finish('stop'), count),
    )
    expect(answer).toMatchObject({ stopReason: 'refusal', content: [{ type: 'text', text: 'I will not.' }] })
  })

  test('with a call that says "stop" is still a call', async () => {
    const provider = await serveChunks(call({ index: 0, id: 'a', name: 'f', args: '{}' }), finish('stop'), count)
    expect((await ask(provider)).stopReason).toBe('tool_use')
  })

  test.each([
    [
      'two calls, interleaved',
      [
        call({ index: 0, id: 'a', name: 'f', args: '{"x"' }),
        call({ index: 1, id: 'b', name: 'g', args: '{' }),
        call({ index: 0, args: ':1}' }),
        call({ index: 1, args: '}' }),
      ],
      [
        ['a', 'f', '{"x":1}'],
        ['b', 'g', '{}'],
      ],
    ],
    [
      'no ids',
      [call({ index: 0, name: 'f', args: '{}' }), call({ index: 1, name: 'g', args: '{}' })],
      [
        ['call_0', 'f', '{}'],
        ['call_1', 'g', '{}'],
      ],
    ],
    [
      'no indexes',
      [call({ id: 'a', name: 'f', args: '{' }), call({ args: '}' }), call({ id: 'b', name: 'g', args: '{}' })],
      [
        ['a', 'f', '{}'],
        ['b', 'g', '{}'],
      ],
    ],
    [
      'neither indexes nor ids',
      [call({ name: 'f', args: '{}' }), call({ name: 'f', args: '{}' })],
      [
        ['call_0', 'f', '{}'],
        ['call_1', 'f', '{}'],
      ],
    ],
    [
      'index 0 for every call',
      [call({ index: 0, id: 'a', name: 'f', args: '{}' }), call({ index: 0, id: 'b', name: 'g', args: '{}' })],
      [
        ['a', 'f', '{}'],
        ['b', 'g', '{}'],
      ],
    ],
    [
      'one id twice',
      [call({ index: 0, id: 'a', name: 'f', args: '{}' }), call({ index: 1, id: 'a', name: 'g', args: '{}' })],
      [
        ['a', 'f', '{}'],
        ['a_2', 'g', '{}'],
      ],
    ],
    [
      'id and name in every piece',
      [call({ index: 0, id: 'a', name: 'f', args: '{' }), call({ index: 0, id: 'a', name: 'f', args: '}' })],
      [['a', 'f', '{}']],
    ],
    ['arguments as an object', [call({ index: 0, id: 'a', name: 'f', args: { x: 1 } })], [['a', 'f', '{"x":1}']]],
    ['arguments that are no JSON', [call({ index: 0, id: 'a', name: 'f', args: '{"x' })], [['a', 'f', '{"x']]],
    ['no arguments', [call({ index: 0, id: 'a', name: 'f' })], [['a', 'f', '']]],
  ])('with %s', async (_, chunks, calls) => {
    const { content } = await ask(await serveChunks(...chunks, finish('tool_calls'), count))
    expect(content.map((b) => [b.id, b.name, b.input_text])).toEqual(calls)
  })

  test('without usage is estimated at four bytes a token, never at nothing', async () => {
    const { usage: estimated } = await ask(await serveChunks(...said('x'.repeat(400)), finish('stop')))
    expect(estimated).toMatchObject({ output: 100, cacheRead: 0, cacheWrite: 0 })
    expect(estimated.input).toBe(Math.ceil(JSON.stringify(server!.got[0]!.body).length / 4))
  })

  test('with a usage that makes no sense counts no more cached tokens than there were', async () => {
    const provider = await serveChunks(
      ...said('x'),
      finish('stop'),
      usage({ prompt_tokens: 5, completion_tokens: -3, prompt_tokens_details: { cached_tokens: 9 } }),
    )
    expect((await ask(provider)).usage).toEqual({ input: 0, output: 0, cacheRead: 5, cacheWrite: 0 })
  })

  test('that a server sends in one piece is read as well', async () => {
    const provider = await serve((res) =>
      sendJson(res, 200, {
        model: 'local',
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: {
              role: 'assistant',
              content: 'whole',
              tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
            },
          },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 4 },
      }),
    )
    expect(await ask(provider)).toMatchObject({
      content: [
        { type: 'text', text: 'whole' },
        { type: 'tool_use', id: 'a', name: 'f', input_text: '{}' },
      ],
      usage: { input: 3, output: 4 },
      servedBy: 'local',
      pieces: ['whole'],
    })
  })

  test('is well formed, whatever came', async () => {
    const provider = await serve((res) => {
      beginStream(res)
      writeChunks(res, [delta({ content: '\ud83d' }), delta({ content: '\ude00\u0000\udc00' })])
      res.write('data: {"choices":[{"delta":{"content":"')
      res.write(Buffer.from([0xff]))
      res.write('"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
      res.end()
    })
    const answer = await ask(provider)
    expect(answer.content).toEqual([{ type: 'text', text: '😀���' }])
    expect(answer.pieces.join('')).toBe('😀���')
  })
})

describe('a request', () => {
  const history: Message[] = [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'x', signature: 's' },
        { type: 'text', text: 'one' },
        { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
        { type: 'tool_use', id: 'b', name: 'g', input_text: '{ "y": 1.50 }' },
        { type: 'tool_use', id: 'c', name: 'h', input_text: '{"z' },
        { type: 'tool_use', id: 'd', name: 'h', input_text: '' },
      ],
    },
    { role: 'system', content: 'Be quick.' },
    result('a', 'A'),
    result('b', 'broke', true),
    result('c', ''),
    result('d', 'D'),
    { role: 'user', content: 'and?' },
  ]

  test('puts every call with its arguments, results right after, then what people and the system say', () => {
    expect(toParams(request({ messages: history }), false).messages).toEqual([
      { role: 'system', content: 'You are a tester.' },
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'one',
        tool_calls: [
          { type: 'function', id: 'a', function: { name: 'f', arguments: '{"x":1}' } },
          { type: 'function', id: 'b', function: { name: 'g', arguments: '{ "y": 1.50 }' } },
          { type: 'function', id: 'c', function: { name: 'h', arguments: '{"raw_arguments":"{\\"z"}' } },
          { type: 'function', id: 'd', function: { name: 'h', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'tool', tool_call_id: 'b', content: 'Error: broke' },
      { role: 'tool', tool_call_id: 'c', content: '' },
      { role: 'tool', tool_call_id: 'd', content: 'D' },
      { role: 'user', content: '<system>\nBe quick.\n</system>\n\nand?' },
    ])
  })

  test.each([
    [{ toolChoice: 'any' as const }, { tool_choice: 'required', parallel_tool_calls: false }],
    [{ toolChoice: 'auto' as const, parallelCalls: true }, { tool_choice: 'auto' }],
    [{ toolChoice: { name: 'f' }, model: 'o3' }, { tool_choice: { type: 'function', function: { name: 'f' } } }],
  ])('with %j chooses %j', (change, wanted) => {
    const { tool_choice, parallel_tool_calls } = toParams(request(change), true)
    expect(JSON.parse(JSON.stringify({ tool_choice, parallel_tool_calls }))).toEqual(wanted)
  })

  test('speaks the old form to other servers and the new one to OpenAI, without reasoning', () => {
    const messages: Message[] = [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'x' },
        ],
      },
    ]
    const [other, official] = [toParams(request({ messages }), false), toParams(request({ messages }), true)]
    expect([other.max_tokens, other.max_completion_tokens]).toEqual([1000, undefined])
    expect([official.max_tokens, official.max_completion_tokens]).toEqual([undefined, 1000])
    expect(other.messages[1]).toHaveProperty('reasoning_content', 'hm')
    expect(official.messages[1]).not.toHaveProperty('reasoning_content')
  })

  test('without tools and system has neither, nor a message without content', () => {
    const params = toParams(request({ tools: [], system: '', messages: [{ role: 'assistant', content: [] }] }), false)
    expect(params.messages).toEqual([])
    expect(Object.keys(params).sort()).toEqual(['max_tokens', 'messages', 'model', 'stream', 'stream_options'])
  })

  test('without a key carries no Authorization', async () => {
    server = await loopback((res) => streamChunks(res, [...said('x'), finish('stop'), count]))
    await openaiProvider({ apiKey: null, baseUrl: server.url }).call(request(), { signal: never() })
    expect(server.got[0]!.headers.authorization).toBeUndefined()
  })
})

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
    expect(server!.got.length).toBe(1)
  })

  test('with Retry-After says how long to wait, at most a minute', async () => {
    expect((await failure(await serveError(429, {}, { 'retry-after': '2' }))).retryAfterMs).toBe(2000)
    await server!.close()
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
    const provider = await serve((res) => {
      beginStream(res)
      writeChunks(res, [call({ index: 0, id: 'a', name: 'f', args: '{}' })])
      setImmediate(() => cut(res))
    })
    expect(await failure(provider)).toMatchObject({ code: 'NETWORK', transient: true })
  })

  test.each(['data: {"choices"\n\n', 'data: nonsense\n\n'])('is garbage: %j', async (bytes) => {
    const provider = await serve((res) => {
      beginStream(res)
      res.end(bytes)
    })
    expect(await failure(provider)).toMatchObject({ code: 'INVALID_RESPONSE', transient: true })
  })

  test('is one document that is no JSON', async () => {
    const provider = await serve((res) => {
      res.writeHead(200, { 'content-type': 'application/json' })
      res.end('{"choices":')
    })
    expect(await failure(provider)).toMatchObject({ code: 'INVALID_RESPONSE', transient: true })
  })

  test('of the network is transient', async () => {
    const provider = await serveChunks()
    await server!.close()
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
    const provider = await serve((res) => {
      beginStream(res)
      writeChunks(res, said('first words'))
    })
    const abort = new AbortController()
    const reason = new Error('stop it')
    const pending = provider.call(request(), { signal: abort.signal, onText: () => abort.abort(reason) })
    await expect(pending).rejects.toBe(reason)
    expect(await server!.got[0]!.closed).toEqual({ complete: false })
  })

  test('while no answer comes ends the call with its reason', async () => {
    const provider = await serve(() => undefined)
    const abort = new AbortController()
    const pending = provider.call(request(), { signal: abort.signal })
    const got = await server!.next()
    abort.abort(new DOMException('no answer in time', 'TimeoutError'))
    await expect(pending).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(await got.closed).toEqual({ complete: false })
  })
})
