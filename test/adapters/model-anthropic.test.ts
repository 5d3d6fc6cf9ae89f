import { describe, expect, test } from 'vitest'
import { anthropicProvider } from '../../adapters/models/anthropic/provider.ts'
import {
  block,
  callBlock,
  start,
  stop,
  streamEvents,
  textBlock,
  writeEvents,
} from '../support/models/anthropic-wire.ts'
import { bench } from '../support/models/model-bench.ts'
import { ask } from '../support/models/model-request.ts'
import { beginStream, sendJson } from '../support/network/loopback.ts'

const KEY = 'sk-ant-very+secret/0123456789='
const at = bench((baseUrl) => anthropicProvider({ apiKey: KEY, baseUrl }))
const serveEvents = (...events: Parameters<typeof streamEvents>[1]) => at.serve((res) => streamEvents(res, events))

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
      streamed: 'Let me look.',
    })
    expect(at.server.got[0]!.headers.authorization).toBe(`Bearer ${KEY}`)
  })

  test('keeps thinking, its signature, and blocks of unknown kinds', async () => {
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
    ['nested without end', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
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

  test('joins a surrogate pair split over two pieces, and replaces invalid characters', async () => {
    const [high, low] = ['\ud83d', '\ude00']
    const provider = await serveEvents(
      start(),
      ...textBlock(0, `a${high}`, `${low}b\u0000`, '\udc00'),
      ...stop('end_turn'),
    )
    const answer = await ask(provider)
    expect(answer.content).toEqual([{ type: 'text', text: 'a😀b��' }])
    expect(answer.streamed).toBe('a😀b��')
  })

  test('with invalid UTF-8 is replaced, not refused', async () => {
    const provider = await at.serve((res) => {
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
    const provider = await at.serve((res) =>
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
    expect(answer.streamed).toBe('whole')
  })
})
