import { describe, expect, test } from 'vitest'
import { openaiProvider } from '../../adapters/models/openai/provider.ts'
import { openAiParams } from '../../adapters/models/openai/request.ts'
import type { Message } from '../../domain/calls/content.ts'
import { bench } from '../support/models/model-bench.ts'
import { ask, request, result } from '../support/models/model-request.ts'
import { delta, finish, streamChunks, usage } from '../support/models/openai-wire.ts'

const KEY = 'sk-proj-very-secret-0123456789'
const at = bench((url) => openaiProvider({ apiKey: KEY, baseUrl: `${url}/v1` }))
const serveChunks = (...chunks: Parameters<typeof streamChunks>[1]) => at.serve((res) => streamChunks(res, chunks))

const said = (text: string) => [delta({ role: 'assistant', content: text })]
const count = usage({ prompt_tokens: 1, completion_tokens: 1 })

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

  test('puts every call with its arguments, results right after, then messages of people and of the system', () => {
    expect(openAiParams(request({ messages: history }), false).messages).toEqual([
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
    const { tool_choice, parallel_tool_calls } = openAiParams(request(change), true)
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
    const [other, official] = [openAiParams(request({ messages }), false), openAiParams(request({ messages }), true)]
    expect([other.max_tokens, other.max_completion_tokens]).toEqual([1000, undefined])
    expect([official.max_tokens, official.max_completion_tokens]).toEqual([undefined, 1000])
    expect(other.messages[1]).toHaveProperty('reasoning_content', 'hm')
    expect(official.messages[1]).not.toHaveProperty('reasoning_content')
  })

  test('without tools and system has neither, nor a message without content', () => {
    const params = openAiParams(
      request({ tools: [], system: '', messages: [{ role: 'assistant', content: [] }] }),
      false,
    )
    expect(params.messages).toEqual([])
    expect(Object.keys(params).sort()).toEqual(['max_tokens', 'messages', 'model', 'stream', 'stream_options'])
  })

  test('without a key carries no Authorization', async () => {
    await serveChunks(...said('x'), finish('stop'), count)
    await ask(openaiProvider({ apiKey: null, baseUrl: at.server.url }))
    expect(at.server.got[0]!.headers.authorization).toBeUndefined()
  })
})
