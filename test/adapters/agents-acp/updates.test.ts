import type { SessionUpdate } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { UpdateMapping } from '../../../adapters/agents/acp/updates.ts'

const told = (mapping: UpdateMapping, ...updates: SessionUpdate[]) =>
  updates.map((update) => mapping.map(update).map(({ kind, data }) => [kind, data]))

test('a call that is pending is told when it begins, with all of its input by then', () => {
  expect(
    told(
      new UpdateMapping(),
      { sessionUpdate: 'tool_call', toolCallId: 't', title: 'bash', status: 'pending', rawInput: { cwd: '/w' } },
      { sessionUpdate: 'tool_call_update', toolCallId: 't', rawInput: { cwd: '/w', command: 'cat' } },
      { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'in_progress', title: null },
      { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'in_progress', rawInput: { late: true } },
      { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed', rawOutput: 'out' },
      { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed', rawOutput: 'again' },
    ),
  ).toEqual([
    [],
    [],
    [['ToolCall', { id: 't', name: 'bash', input: { cwd: '/w', command: 'cat' } }]],
    [],
    [['ToolResult', { id: 't', success: true, output: 'out' }]],
    [],
  ])
})

test('a call that is first heard of when it has ended has a start and an end', () => {
  const [events] = told(new UpdateMapping(), {
    sessionUpdate: 'tool_call',
    toolCallId: 't',
    title: 'read',
    status: 'failed',
    content: [{ type: 'content', content: { type: 'text', text: 'no such file' } }],
  })
  expect(events!.map(([kind]) => kind)).toEqual(['ToolCall', 'ToolResult'])
  expect(events![1]![1]).toEqual({ id: 't', success: false, output: 'no such file' })
})

test('the final text is what was said after the last tool', () => {
  const mapping = new UpdateMapping()
  const say = (text: string): SessionUpdate => ({
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text },
  })
  told(mapping, say('before'), { sessionUpdate: 'tool_call', toolCallId: 't', title: 'x', status: 'completed' })
  expect(mapping.finalText).toBeNull()
  told(mapping, say('all '), say('done'))
  expect(mapping.finalText).toBe('all done')
})

test('usage is what the agent tells, and null where it tells none', () => {
  const mapping = new UpdateMapping()
  expect(mapping.usage(undefined)).toBeNull()
  told(mapping, { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 1, currency: 'EUR' } })
  expect(mapping.usage({})).toBeNull()
  told(mapping, { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 0.5, currency: 'USD' } })
  const cost = { nanoDollars: 500_000_000, scope: 'session' }
  expect(mapping.usage({})).toEqual({
    scope: 'run',
    inputTokens: null,
    cachedInputTokens: null,
    outputTokens: null,
    cost,
  })
})

test('a chunk continues the text before it, but for the first chunk of another message', () => {
  const mapping = new UpdateMapping()
  const said = (text: string, messageId?: string) =>
    mapping
      .map({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...(messageId && { messageId }) })
      .map(({ continues }) => continues)
  expect([said('a'), said('b')].flat()).toEqual([undefined, true])
  expect([said('a', 'm1'), said('b', 'm1'), said('c', 'm2')].flat()).toEqual([false, true, false])
})

test('the differences of a call become the patch of its result, also if only its beginning reports them', () => {
  const mapping = new UpdateMapping()
  const diff = { type: 'diff', path: '/w/a', oldText: 'one\ntwo\n', newText: 'one\n2\n' } as const
  const [, events] = told(
    mapping,
    {
      sessionUpdate: 'tool_call',
      toolCallId: 't',
      title: 'edit',
      status: 'pending',
      rawInput: { file: 'a' },
      content: [diff],
    },
    { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed' },
  )
  expect(events![1]![1]).toEqual({
    ...{ id: 't', success: true, output: '' },
    patch: '--- /w/a\n+++ /w/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n',
  })
  const huge = { ...diff, newText: 'x'.repeat(500_000) }
  const [long] = told(mapping, {
    ...{ sessionUpdate: 'tool_call', toolCallId: 'u', title: 'edit', status: 'completed', content: [huge] },
  } as SessionUpdate)
  expect(long![1]![1]).not.toHaveProperty('patch')
})
