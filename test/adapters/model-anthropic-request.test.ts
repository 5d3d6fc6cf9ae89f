import { describe, expect, test } from 'vitest'
import { anthropicProvider } from '../../adapters/models/anthropic/provider.ts'
import type { Message } from '../../domain/calls/content.ts'
import { start, stop, streamEvents, textBlock } from '../support/models/anthropic-wire.ts'
import { bench } from '../support/models/model-bench.ts'
import { ask, request, result } from '../support/models/model-request.ts'

const KEY = 'sk-ant-very+secret/0123456789='
const at = bench((baseUrl) => anthropicProvider({ apiKey: KEY, baseUrl }))
const serveEvents = (...events: Parameters<typeof streamEvents>[1]) => at.serve((res) => streamEvents(res, events))

/** The body of the one request that a conversation makes. */
async function sent(change: Parameters<typeof request>[0] = {}): Promise<Record<string, unknown>> {
  await ask(await serveEvents(start(), ...textBlock(0, 'ok'), ...stop('end_turn')), request(change))
  return at.server.got[0]!.body
}

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
    expect(at.server.got[0]!.headers['anthropic-beta']).toBe(drops ? 'thinking-binding-controls-2026-08-01' : undefined)
    expect(body.betas).toBeUndefined()
  })
})

test('a bearer token serves in place of a key', async () => {
  await serveEvents(start(), ...textBlock(0, 'ok'), ...stop('end_turn'))
  await ask(anthropicProvider({ apiKey: null, authToken: 'tok', baseUrl: at.server.url }))
  expect(at.server.got[0]!.headers).toMatchObject({ authorization: 'Bearer tok' })
})
