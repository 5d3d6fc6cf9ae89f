import { describe, expect, test } from 'vitest'
import { bodyFault } from '../../domain/agent/events/codec.ts'

// What cannot be is no shape: neither sealed nor passed by a proof.

const HASH = 'a'.repeat(64)
const end = { toolName: 'look', attempt: 1, durationMs: 0 }
const error = { code: 'TIMEOUT', message: 'slow' }

describe.each([
  ['tool_call_end', { ...end, step: 1 }],
  ['late_outcome', end],
] as const)('%s', (type, body) => {
  test.each([
    ['a success with an error', { success: true, result: 'ok', error }],
    ['a success without a result', { success: true }],
    ['a failure with a result', { success: false, result: 'ok', error }],
    ['a failure without an error', { success: false }],
  ])('is not %s', (_, outcome) => {
    expect(bodyFault(type, { ...body, ...outcome })).toContain('a result where it succeeded, and else an error')
  })

  test.each([
    { success: true, result: null },
    { success: false, error },
  ])('is %j', (outcome) => {
    expect(bodyFault(type, { ...body, ...outcome })).toBeNull()
  })
})

test('hashes are hex, and instants are in ISO 8601', () => {
  const asked = { toolName: 'look', argumentsRef: { revision: 1, block: 0 }, reason: 'policy' }
  const requested = { ...asked, argumentsHash: HASH, expiresAt: '2026-01-18T00:00:00.000Z' }
  expect(bodyFault('approval_requested', requested)).toBeNull()
  for (const argumentsHash of ['', 'h', HASH.toUpperCase(), HASH.slice(2)])
    expect(bodyFault('approval_requested', { ...requested, argumentsHash })).toContain('argumentsHash')
  for (const expiresAt of ['', 'tomorrow', '2026-01-18', '2026-13-18T00:00:00.000Z'])
    expect(bodyFault('approval_requested', { ...requested, expiresAt })).toContain('expiresAt')
  expect(bodyFault('erased', { bodies: [{ revision: 1, bodyHash: 'h' }], reason: 'asked for' })).toContain('bodyHash')
})
