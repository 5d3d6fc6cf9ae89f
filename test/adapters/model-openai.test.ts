import { describe, expect, test } from 'vitest'
import { openaiProvider } from '../../adapters/models/openai/provider.ts'
import { bench } from '../support/models/model-bench.ts'
import { ask, request } from '../support/models/model-request.ts'
import { call, delta, finish, streamChunks, usage, writeChunks } from '../support/models/openai-wire.ts'
import { beginStream, sendJson } from '../support/network/loopback.ts'

const KEY = 'sk-proj-very-secret-0123456789'
const at = bench((url) => openaiProvider({ apiKey: KEY, baseUrl: `${url}/v1` }))
const serveChunks = (...chunks: Parameters<typeof streamChunks>[1]) => at.serve((res) => streamChunks(res, chunks))

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
      streamed: 'Let me look.',
    })
    expect(at.server.got[0]).toMatchObject({
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
    expect((at.server.got[1]!.body.messages as unknown[])[2]).toEqual({
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

  test('with a refusal keeps its words', async () => {
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
    expect(estimated.input).toBe(Math.ceil(JSON.stringify(at.server.got[0]!.body).length / 4))
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
    const provider = await at.serve((res) =>
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
      streamed: 'whole',
    })
  })

  test('is well formed, whatever came', async () => {
    const provider = await at.serve((res) => {
      beginStream(res)
      writeChunks(res, [delta({ content: '\ud83d' }), delta({ content: '\ude00\u0000\udc00' })])
      res.write('data: {"choices":[{"delta":{"content":"')
      res.write(Buffer.from([0xff]))
      res.write('"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
      res.end()
    })
    const answer = await ask(provider)
    expect(answer.content).toEqual([{ type: 'text', text: '😀���' }])
    expect(answer.streamed).toBe('😀���')
  })
})
