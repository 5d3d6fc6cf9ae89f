import { describe, expect, test } from 'vitest'
import { performCall } from '../../../domain/agent/runtime/perform/perform-call.ts'
import type { ToolAttempt } from '../../../domain/agent/runtime/perform/tool-attempt.ts'
import { MAX_ARGUMENT_VALUES } from '../../../domain/calls/answer-bounds.ts'
import { callArguments, requestedCalls } from '../../../domain/calls/requested-calls.ts'
import { tool } from '../../support/story.ts'

const block = (input_text: string) => ({ type: 'tool_use', id: 'a', name: 'look', input_text })
const list = (length: number) => JSON.stringify({ list: Array.from({ length }, (_, n) => n) })

describe('the arguments of a stored call', () => {
  test('are an object up to the values that one answer may hold; a request that holds more is refused', () => {
    expect(callArguments(block(list(MAX_ARGUMENT_VALUES - 2)))).toMatchObject({ list: expect.any(Array) })
    expect(callArguments(block(list(30_000)))).toBeNull()
    expect(requestedCalls([block(list(30_000))])).toMatchObject([
      { arguments: null, beyond: expect.stringContaining('20000 values') },
    ])
  })

  test.each([
    ['pure', false, { kind: 'tool_failed', error: { code: 'INVALID_ARGUMENTS', beforeEffect: true } }],
    ['reconcilable', true, { kind: 'tool_in_doubt', reason: expect.stringContaining('cannot be read') }],
  ])('that cannot be read end a %s call by name, and the tool does not run', async (effect, probe, end) => {
    const look = tool('look')
    const ports = { clock: { now: () => 0 } }
    const secrets = { text: (text: string) => text }
    const state = { spec: { tools: [look.spec] } }
    const args = callArguments(block('{"path":'))
    const call = { id: 'a.t1.c0', toolName: 'look', index: 0, attempt: 1, effect, stage: { at: 'running', probe } }
    const { signal } = new AbortController()
    const env = { secrets, tool: () => look }
    const attempt = { ports, env, state, call, args, told: { messages: [], turns: [] }, signal }
    expect(await performCall(attempt as unknown as ToolAttempt)).toMatchObject(end)
    expect(look.ran).toEqual([])
  })
})
