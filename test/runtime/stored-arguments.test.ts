import { describe, expect, test } from 'vitest'
import { callArguments, requestedCalls } from '../../domain/agent/events/content.ts'
import { performTool } from '../../domain/runtime/agent/perform/perform-tool.ts'
import { tool } from '../support/story.ts'

const block = (input_text: string) => ({ type: 'tool_use', id: 'a', name: 'look', input_text })
const many = { list: Array.from({ length: 30_000 }, (_, n) => n) }

describe('the arguments of a stored call', () => {
  test('are read however many values they hold; a new request that holds so many is refused', () => {
    expect(callArguments(block(JSON.stringify(many)))).toEqual(many)
    expect(requestedCalls([block(JSON.stringify(many))])).toMatchObject([
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
    const answer = { body: { content: [block('{"path":')], calls: [{ block: 0 }] } }
    const call = { id: 'a.t1.c0', toolName: 'look', index: 0, attempt: 1, effect, stage: { at: 'running', probe } }
    const given = [ports, { secrets, tool: () => look }, state, answer, call, new AbortController().signal] as unknown
    expect(await performTool(...(given as Parameters<typeof performTool>))).toMatchObject(end)
    expect(look.ran).toEqual([])
  })
})
