import { describe, expect, test } from 'vitest'
import { scriptedProvider } from '../../adapters/models/scripted/provider.ts'
import { parseScript, type ScriptInput } from '../../adapters/models/scripted/script.ts'
import type { Message } from '../../domain/calls/content.ts'
import type { ModelProvider, ModelRequest } from '../../domain/ports/index.ts'
import { ask, failure, request, result } from '../support/models/model-request.ts'

type TurnInput = ScriptInput['turns'][number]
const script = (turns: TurnInput[], more: Partial<ScriptInput> = {}) =>
  parseScript({ script: 1, turns, ...more }, 'test')
const provider = (turns: TurnInput[], more?: Partial<ScriptInput>) => scriptedProvider(script(turns, more))
/** A placeholder. */
const hole = (name: string) => `\${${name}}`
const call = (tool: string): TurnInput => ({ calls: [{ tool, arguments: {} }] })

/** Plays on from some messages: each call of an answer gets `results`' next text. Returns the names of the calls made. */
async function playOn(
  one: ModelProvider,
  messages: Message[],
  turns: number,
  results: string[] = [],
): Promise<string[]> {
  const names: string[] = []
  for (let i = 0; i < turns; i += 1) {
    const { content } = await ask(one, request({ messages: [...messages] }))
    messages.push({ role: 'assistant', content })
    for (const block of content) {
      if (block.type !== 'tool_use') continue
      names.push(String(block.name))
      messages.push(result(String(block.id), results.shift() ?? 'ok'))
    }
  }
  return names
}

describe('which turn is played', () => {
  const abc = [call('a'), call('b'), call('c'), call('d')]

  test('is read off the conversation: a provider of a new process plays on', async () => {
    const messages: Message[] = [{ role: 'user', content: 'go' }]
    expect(await playOn(provider(abc), messages, 2)).toEqual(['a', 'b'])
    expect(await playOn(provider(abc), messages, 2)).toEqual(['c', 'd'])
  })

  test('a fork plays the same turns again, and asking twice gives the same answer', async () => {
    const one = provider(abc)
    const messages: Message[] = [{ role: 'user', content: 'go' }]
    await playOn(one, messages, 2)
    const fork = messages.slice(0, 3)
    await playOn(one, messages, 2)
    expect(await playOn(one, fork, 1)).toEqual(['b'])
    const again = request({ messages: fork })
    expect(await ask(one, again)).toEqual(await ask(one, again))
  })

  test('is not lost where a summary has replaced the beginning', async () => {
    const messages: Message[] = [{ role: 'user', content: 'go' }]
    await playOn(provider(abc), messages, 3)
    const compressed: Message[] = [{ role: 'user', content: 'Summary: …' }, ...messages.slice(-2)]
    expect(await playOn(provider(abc), compressed, 1)).toEqual(['d'])
  })

  test('counts answers of other models as one turn each', async () => {
    const other: Message = { role: 'assistant', content: [{ type: 'text', text: 'x' }] }
    expect(await playOn(provider(abc), [{ role: 'user', content: 'go' }, other, other], 1)).toEqual(['c'])
  })

  test('is the first whose condition holds', async () => {
    const turns = [
      call('test'),
      { ...call('fix'), when: { lastResultContains: 'FAIL' }, goto: 'again' },
      { ...call('complete_task'), when: { lastResultContains: 'PASS' } },
      { ...call('test'), label: 'again', goto: 'judge' },
      { ...call('fix'), label: 'judge', when: { lastResultContains: 'FAIL' }, goto: 'again' },
      call('complete_task'),
    ]
    const start = (): Message[] => [{ role: 'user', content: 'go' }]
    expect(await playOn(provider(turns), start(), 2, ['PASS'])).toEqual(['test', 'complete_task'])
    const results = ['FAIL', 'fixed', 'FAIL', 'fixed', 'PASS']
    expect(await playOn(provider(turns), start(), 6, results)).toEqual([
      'test',
      'fix',
      'test',
      'fix',
      'test',
      'complete_task',
    ])
  })

  test.each<[string, TurnInput['when'], Partial<ModelRequest>, boolean]>([
    ['an error', { lastResultIsError: true }, { messages: [result('x', 'y', true)] }, true],
    ['no error', { lastResultIsError: true }, { messages: [result('x', 'y')] }, false],
    [
      'the newest input',
      { lastInputContains: 'new' },
      {
        messages: [
          { role: 'user', content: 'old' },
          { role: 'user', content: 'new' },
        ],
      },
      true,
    ],
    [
      'an older input',
      { lastInputContains: 'old' },
      {
        messages: [
          { role: 'user', content: 'old' },
          { role: 'user', content: 'new' },
        ],
      },
      false,
    ],
    [
      'the task',
      { firstInputContains: 'old' },
      {
        messages: [
          { role: 'user', content: 'old' },
          { role: 'user', content: 'new' },
        ],
      },
      true,
    ],
    ['the system prompt', { systemContains: 'tester' }, {}, true],
    ['an offered tool', { offered: 'read_file' }, {}, true],
    [
      'a tool of a server',
      { offered: 'git:log' },
      { tools: [{ name: 'git__log', description: '', parameters: {} }] },
      true,
    ],
    ['a tool that is not offered', { offered: 'write_file' }, {}, false],
    ['the lack of a tool', { notOffered: 'read_file' }, {}, false],
    [
      'a result of an earlier turn',
      { lastResultContains: 'y' },
      { messages: [result('x', 'y'), { role: 'assistant', content: [] }] },
      false,
    ],
  ])('condition: %s', async (_, when, change, holds) => {
    const turns = Array.from({ length: 3 }, () => [
      { when, text: 'yes' } as TurnInput,
      { text: 'no' } as TurnInput,
    ]).flat()
    const { content } = await ask(provider(turns), request(change))
    expect(content[1]).toMatchObject({ text: holds ? 'yes' : 'no' })
  })

  test('a part is chosen at the beginning and kept', async () => {
    const one = provider([call('a'), call('b')], {
      parts: [{ name: 'child', when: { firstInputContains: 'child' }, turns: [call('x'), call('y')] }],
    })
    const messages: Message[] = [{ role: 'user', content: 'You are the child.' }]
    expect(await playOn(one, messages, 1)).toEqual(['x'])
    const compressed: Message[] = [{ role: 'user', content: 'Summary' }, ...messages.slice(1)]
    expect(await playOn(one, compressed, 1)).toEqual(['y'])
    expect(await playOn(one, [{ role: 'user', content: 'parent' }], 2)).toEqual(['a', 'b'])
  })

  test('after the last one gives an error with a remedy', async () => {
    const messages: Message[] = [{ role: 'user', content: 'go' }]
    const one = provider([call('a')], { model: 'demo' })
    await playOn(one, messages, 1)
    const error = await failure(one, request({ messages }))
    expect(error).toMatchObject({ code: 'SCRIPT_EXHAUSTED', transient: false })
    expect(error.message).toMatch(/"demo" has no turn left .*add a turn .*complete_task/)
    expect(error.message).not.toContain('failed')
  })

  test('after a failed call the error names the failure in one short line', async () => {
    const messages: Message[] = [{ role: 'user', content: 'go' }]
    const one = provider([call('a')], { model: 'demo' })
    await playOn(one, messages, 1)
    const failed = { ...messages.at(-1)!, content: `no tool\n${'a'.repeat(999)}`, isError: true } as Message
    const { message } = await failure(one, request({ messages: [...messages.slice(0, -1), failed] }))
    expect(message).toContain(`after 1); the last call failed: no tool ${'a'.repeat(112)}…; add a turn`)
  })
})

describe('an answer', () => {
  test('has text, calls with ids of their own, and the usage that is given', async () => {
    const one = provider(
      [
        {
          text: 'Let me look at  this.',
          calls: [
            { tool: 'read_file', arguments: { path: 'a.txt' } },
            { tool: 'git:log', argumentsText: '{"n' },
          ],
          usage: { input: 100, cacheRead: 7 },
        },
      ],
      { model: 'demo' },
    )
    const answer = await ask(one)
    expect(answer).toMatchObject({
      content: [
        { type: 'script' },
        { type: 'text', text: 'Let me look at  this.' },
        { type: 'tool_use', id: 'script_t1_c1', name: 'read_file', input: { path: 'a.txt' } },
        { type: 'tool_use', id: 'script_t1_c2', name: 'git__log', input_text: '{"n' },
      ],
      stopReason: 'tool_use',
      usage: { input: 100, cacheRead: 7, cacheWrite: 0 },
      servedBy: 'demo',
    })
    expect(answer.usage.output).toBeGreaterThan(0)
    expect(answer.streamed).toBe('Let me look at  this.')
  })

  test('fills in placeholders of texts and arguments once', async () => {
    const one = provider([
      {
        text: `Turn ${hole('turn')}: ${hole('lastResult')} / ${hole('firstInput')} / ${hole('lastInput')} / $${hole('turn')}`,
        calls: [{ tool: 'f', arguments: { deep: [{ path: `${hole('lastResult')}.txt`, n: 1 }] } }],
      },
    ])
    const messages: Message[] = [
      { role: 'user', content: 'first' },
      result('x', `${hole('turn')}`),
      { role: 'user', content: 'last' },
    ]
    expect((await ask(one, request({ messages }))).content.slice(1)).toMatchObject([
      { text: `Turn 1: ${hole('turn')} / first / last / ${hole('turn')}` },
      { input: { deep: [{ path: `${hole('turn')}.txt`, n: 1 }] } },
    ])
  })

  test('stops as the script says, and with end_turn by default without a call', async () => {
    expect((await ask(provider([{ text: 'x' }]))).stopReason).toBe('end_turn')
    expect((await ask(provider([{ text: 'x', stop: 'max_tokens' }]))).stopReason).toBe('max_tokens')
  })

  test('to a request without tools is the summary and plays no turn', async () => {
    const answer = await ask(provider([call('a')], { summary: 'All so far.' }), request({ tools: [] }))
    expect(answer.content).toEqual([{ type: 'text', text: 'All so far.' }])
  })

  test('fails as often as told, then comes', async () => {
    const one = provider([{ ...call('a'), fail: { code: 'OVERLOADED', times: 2 } }])
    expect(await failure(one)).toMatchObject({ code: 'OVERLOADED', transient: true })
    expect(await failure(one)).toMatchObject({ code: 'OVERLOADED', transient: true })
    expect((await ask(one)).stopReason).toBe('tool_use')
  })

  test('that fails with a lasting code is not transient', async () => {
    expect(await failure(provider([{ fail: { code: 'AUTHENTICATION' } }]))).toMatchObject({ transient: false })
  })

  test('waits as told, and ends at once when aborted', async () => {
    const abort = new AbortController()
    const reason = new Error('stop it')
    const pending = provider([{ text: 'x', delayMs: 600_000 }]).call(request(), { signal: abort.signal })
    abort.abort(reason)
    await expect(pending).rejects.toBe(reason)
  })

  test('is cut short when aborted in mid-stream', async () => {
    const abort = new AbortController()
    const pieces: string[] = []
    const pending = provider([{ text: 'one two three' }]).call(request(), {
      signal: abort.signal,
      onText: (text) => {
        pieces.push(text)
        abort.abort(new Error('stop it'))
      },
    })
    await expect(pending).rejects.toThrow('stop it')
    expect(pieces).toEqual(['one '])
  })
})
