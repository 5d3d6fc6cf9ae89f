import { describe, expect, test } from 'vitest'
import { redactOutcome, redactRequest } from '../../../domain/agent/runtime/redact.ts'
import type { Block } from '../../../domain/calls/content.ts'
import { callArguments } from '../../../domain/calls/requested-calls.ts'
import type { Json } from '../../../domain/log/json.ts'
import type { SecretBoundary } from '../../../domain/ports/runtime.ts'
import { createRedactor } from '../../../domain/secrets/redactor.ts'
import { yielder } from '../../../domain/stream/runtime/yield-to-event-loop.ts'
import { NO_SECRETS } from '../../support/secrets/no-secrets.ts'

// A secret may be any word, also one that commands and blocks are made of. Fault planted: the whole command redacted.

const hide = (secret: string): SecretBoundary => {
  const replaced = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(secret, 'REF')) as T
  return {
    ...NO_SECRETS,
    text: (text) => text.replaceAll(secret, 'REF'),
    json: replaced,
    result: replaced,
    arguments: (_, args) => replaced(args),
  }
}

test.each([
  [{ kind: 'cancel', reason: 'cancel it', deadlineMs: 1000 }, 'cancel', { reason: 'REF it' }],
  [{ kind: 'cancel', deadlineMs: 1000 }, '1000', {}],
  [{ kind: 'decide_approval', toolCallId: 'a.t1.c0', decision: 'approved' }, 'approved', {}],
  [{ kind: 'pause', reason: 'pause' }, 'pause', { reason: 'REF' }],
  [
    { kind: 'resolve_doubt', toolCallId: 'a.t1.c0', decision: 'happened', result: 'happened' },
    'happened',
    { result: 'REF' },
  ],
] as const)('%j keeps what it says to do, whatever the secret', (command, secret, changed) => {
  expect(redactRequest(hide(secret), command)).toEqual({ ...command, ...changed })
})

test('an answer keeps its kinds; names, ids and what the server says of itself are looked into', async () => {
  const content = [
    { type: 'text', text: 'my type' },
    { type: 'tool_use', id: 'type-1', name: 'type', input: { type: 'type' } },
  ]
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
  const outcome = { content, stopReason: 'tool_use', usage, servedBy: 'type', requestId: 'type' } as const
  const clean = await redactOutcome(hide('type'), outcome, yielder())
  expect(clean.content.map((block) => block.type)).toEqual(['text', 'tool_use'])
  expect(clean.content[1]).toMatchObject({ id: 'REF-1', name: 'REF', input: { REF: 'REF' } })
  expect([clean.servedBy, clean.requestId, clean.content[0]?.text]).toEqual(['REF', 'REF', 'my REF'])
})

describe('arguments that came as text', () => {
  const { redactText, redactArguments, redactResult, redactJson } = createRedactor({
    key: new Uint8Array(32),
    known: ['hunter2-secret', '12345678901234567891'],
  })
  const secrets: SecretBoundary = {
    ...NO_SECRETS,
    text: (text) => redactText(text).value,
    json: <T>(value: T) => redactJson(value as Json).value as T,
    arguments: (name, args) => redactArguments(name, args).value,
    result: (value) => redactResult(value).value,
  }
  const kept = async (input_text: string) => {
    const content = [{ type: 'tool_use', id: 'a', name: 'send', input_text }]
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    const outcome = { content, stopReason: 'tool_use', usage, servedBy: 'm' } as const
    return (await redactOutcome(secrets, outcome, yielder())).content[0] as Block
  }

  test.each([
    '{ "n": 1.50, "path": "a\\/b", "what": "\\u0041" }',
    '{"what": "x',
    '{"a": 1, "a": 2}',
    'C:\\dir\\u0041',
    '',
  ])('%s is kept as it was written', async (raw) => expect((await kept(raw)).input_text).toBe(raw))

  test.each([
    ['a key stands twice', '{"what":"hunter2-secret","what":"y"}'],
    ['a key stands twice, deeper', '{"x":[{"what":"hunter2-secret","what":"y"}]}'],
    ['a key stands twice, and escapes hide the value', '{"what":"\\u0068unter2\\u002Dsecret","what":"y"}'],
    ['it is no JSON, and escapes hide the value', '{"what":"\\u0068unter2-secret"'],
    ['parsing drops the digits of a number', '{"what":12345678901234567891}'],
  ])('a secret is not kept where %s', async (_, raw) => {
    const { input_text } = await kept(raw)
    expect(JSON.stringify(input_text)).not.toMatch(/hunter2|unter2|12345678901234567891/)
  })

  test('what stands under the name of a secret is not kept where the name stands twice', async () => {
    const { input_text } = await kept('{"password":"not known","password":"nor this"}')
    expect(input_text).toMatch(/^\{"password":"secret:ku_\w{26}","password":"secret:ku_\w{26}"\}$/)
  })

  test('a repeated key makes no valid object; megabytes are read without one frame per character', () => {
    const block = (input_text: string) => ({ type: 'tool_use', id: 'a', name: 'send', input_text })
    expect(callArguments(block('{"a":{"b":1,"b":2}}'))).toBeNull()
    const long = { what: `${'x'.repeat(1 << 24)}${'\n'.repeat(1 << 22)}` }
    expect(callArguments(block(JSON.stringify(long)))?.what === long.what).toBe(true)
  })
})
