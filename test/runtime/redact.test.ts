import { expect, test } from 'vitest'
import type { SecretBoundary } from '../../domain/runtime/ports.ts'
import { redactOutcome, redactRequest } from '../../domain/runtime/redact.ts'
import { NO_SECRETS } from '../support/no-secrets.ts'

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

test('an answer keeps its kinds; names, ids and what the server says of itself are looked into', () => {
  const content = [
    { type: 'text', text: 'my type' },
    { type: 'tool_use', id: 'type-1', name: 'type', input: { type: 'type' } },
  ]
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
  const outcome = { content, stopReason: 'tool_use', usage, servedBy: 'type', requestId: 'type' } as const
  const clean = redactOutcome(hide('type'), outcome)
  expect(clean.content.map((block) => block.type)).toEqual(['text', 'tool_use'])
  expect(clean.content[1]).toMatchObject({ id: 'REF-1', name: 'REF', input: { REF: 'REF' } })
  expect([clean.servedBy, clean.requestId, clean.content[0]?.text]).toEqual(['REF', 'REF', 'my REF'])
})
