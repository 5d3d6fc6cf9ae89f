import { describe, expect, it, test } from 'vitest'
import {
  callIdOf,
  conversationOf,
  errorOf,
  inputText,
  kindOf,
  modelOf,
  outputText,
  toolOf,
  usageOf,
} from '../../../domain/external/reported/conventions.ts'
import type { Attributes, OtlpSpan } from '../../../domain/external/reported/otlp-span.ts'
import { otlpSpan } from '../../support/external/otlp-spans.ts'

// The names of attributes, and which of them counts if a span has several.

test.each([
  [{ 'gen_ai.operation.name': 'text_completion' }, 'model'],
  [{ 'gen_ai.operation.name': 'generate_content' }, 'model'],
  [{ 'gen_ai.operation.name': 'create_agent' }, 'agent'],
  [{ 'gen_ai.operation.name': 'invoke_workflow' }, 'agent'],
  [{ 'openinference.span.kind': 'EMBEDDING' }, 'model'],
  [{ 'openinference.span.kind': 'AGENT' }, 'agent'],
  [{ 'openinference.span.kind': 'llm' }, 'model'],
  [{ 'ai.operationId': 'ai.generateText.doGenerate' }, 'model'],
  [{ 'ai.operationId': 'ai.embed.doEmbed' }, 'model'],
  [{ 'gen_ai.tool.name': 'search', 'gen_ai.request.model': 'm' }, 'tool'],
  [{ 'gen_ai.response.model': 'm' }, 'model'],
] as const)('the kind of %o is %s', (given, kind) => expect(kindOf(given as Attributes)).toBe(kind))

describe.each([
  [
    'model',
    modelOf,
    [
      ...['gen_ai.response.model', 'gen_ai.request.model', 'llm.model_name', 'embedding.model_name'],
      ...['ai.response.model', 'ai.model.id'],
    ],
  ],
  ['tool', toolOf, ['gen_ai.tool.name', 'tool.name', 'ai.toolCall.name']],
  ['call', callIdOf, ['gen_ai.tool.call.id', 'tool_call.id', 'ai.toolCall.id']],
  ['conversation', conversationOf, ['gen_ai.conversation.id', 'session.id']],
  ['input of an operation', inputText, ['input.value', 'gen_ai.tool.call.arguments', 'ai.toolCall.args', 'ai.prompt']],
  [
    'output of an operation',
    outputText,
    ['output.value', 'gen_ai.tool.call.result', 'ai.toolCall.result', 'ai.response.text'],
  ],
] as const)('the %s', (_, read, keys) => {
  it.each(keys.map((key, at) => [key, keys.slice(at)] as const))('is %s before later names', (key, rest) => {
    const given = Object.fromEntries([...rest].reverse().map((name) => [name, `of ${name}`]))
    expect(read(given)).toBe(`of ${key}`)
    expect(read({ ...given, [keys[0]]: key === keys[0] ? 'first' : '' })).toBe(key === keys[0] ? 'first' : `of ${key}`)
  })

  it('is unknown without these names', () => expect(read({ other: 'x' })).toBeNull())
})

test('an attribute is an own member of the attributes', () => {
  const given = Object.create({ 'tool.name': 'inherited' }) as Attributes
  expect(toolOf(given)).toBeNull()
})

test.each([
  ['input', 'gen_ai.usage.prompt_tokens'],
  ['input', 'ai.usage.inputTokens'],
  ['input', 'ai.usage.tokens'],
  ['output', 'gen_ai.usage.completion_tokens'],
  ['output', 'ai.usage.outputTokens'],
  ['cacheRead', 'llm.token_count.prompt_details.cache_read'],
  ['cacheRead', 'ai.usage.cachedInputTokens'],
  ['cacheWrite', 'gen_ai.usage.cache_write.input_tokens'],
  ['cacheWrite', 'llm.token_count.prompt_details.cache_write'],
] as const)('tokens of %s are read from %s', (member, key) => expect(usageOf({ [key]: 7 })[member]).toBe(7))

test('the cost is that of GenAI before that of OpenInference', () =>
  expect(usageOf({ 'llm.cost.total': 1, 'gen_ai.usage.cost': 2 }).cost).toEqual({ nanoDollars: 2_000_000_000 }))

test.each([
  [{ 'gen_ai.operation.name': 'embeddings' }, 0],
  [{ 'openinference.span.kind': 'EMBEDDING' }, 0],
  [{ 'ai.operationId': 'ai.embed.doEmbed' }, 0],
  [{ 'gen_ai.operation.name': 'chat' }, null],
] as const)('the output of %o without a count is %s', (given, output) =>
  expect(usageOf(given as Attributes).output).toBe(output),
)

describe('the error', () => {
  const exception = { name: 'exception', atNano: 1n, attributes: { 'exception.type': 'E', 'exception.message': 'm' } }
  const other = { ...exception, name: 'other', attributes: { 'exception.type': 'O', 'exception.message': 'o' } }
  test.each([
    ['an error.type without a status', { attributes: { 'error.type': '404' } }, { type: '404' }],
    ['a failed status alone', { status: { code: 2, message: '' } }, { type: 'error' }],
    [
      'the message of the status before that of an exception',
      { status: { code: 2, message: 's' }, events: [exception] },
      { type: 'E', message: 's' },
    ],
    [
      'error.type before the type of an exception',
      { attributes: { 'error.type': 'T' }, events: [exception] },
      { type: 'T', message: 'm' },
    ],
    [
      'no event but an exception',
      { status: { code: 2, message: '' }, events: [other, exception] },
      { type: 'E', message: 'm' },
    ],
    ['no error without both', { events: [exception] }, null],
  ] as readonly [string, Partial<OtlpSpan>, object | null][])('is %s', (_, more, error) =>
    expect(errorOf(otlpSpan(1, null, more))).toEqual(error),
  )
})

describe('the text of messages', () => {
  const said = (role: string, ...texts: readonly string[]) => ({
    role,
    parts: texts.map((content) => ({ type: 'text', content })),
  })
  const messages = [said('user', 'first'), said('user', 'a', 'b'), said('assistant', 'c'), said('tool', 'd')]
  it('is that of the last message of the role, with all parts, before plain texts', () => {
    for (const given of [messages, JSON.stringify(messages)]) {
      expect(inputText({ 'gen_ai.input.messages': given, 'input.value': 'x' })).toBe('a\nb')
      expect(outputText({ 'gen_ai.output.messages': given, 'output.value': 'x' })).toBe('c')
    }
  })

  it.each([['{'], ['3'], [[null, 'x', { role: 'user', parts: 3 }]]])('is not in %o', (given) =>
    expect(inputText({ 'gen_ai.input.messages': given as never, 'input.value': 'x' })).toBe('x'),
  )
})
