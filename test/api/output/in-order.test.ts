import { expect, it } from 'vitest'
import { InOrder } from '../../../api/cli/follow/ordered-output.ts'
import type { EventView } from '../../../api/operations/events/schemas.ts'

const told = () => {
  const shown: string[] = []
  const order = new InOrder(({ text }) => shown.push(text))
  const event = (type: string, turn: number, agentId = 'a') => {
    shown.push(`<${type} ${turn}>`)
    order.event({ type, turn, agentId } as EventView)
  }
  const piece = (kind: 'text' | 'output', turn: number, text: string, agentId = 'a') =>
    order.text({ kind, runId: 'a', agentId, turn, text, toolCallId: 'c' } as Parameters<typeof order.text>[0])
  return { shown, order, event, piece }
}

it('holds the words of a turn back until the event that begins it was shown', () => {
  const { shown, event, piece } = told()
  event('model_call_start', 1)
  piece('text', 1, 'one')
  piece('text', 2, 'two')
  piece('text', 2, '…')
  event('tool_call_end', 1)
  event('turn_start', 2)
  event('model_call_start', 2)
  piece('text', 2, 'three')
  expect(shown).toEqual([
    '<model_call_start 1>',
    'one',
    '<tool_call_end 1>',
    '<turn_start 2>',
    '<model_call_start 2>',
    'two',
    '…',
    'three',
  ])
})

it('keeps the output of tools behind their calls, each agent for itself', () => {
  const { shown, event, piece } = told()
  event('model_call_start', 1)
  piece('output', 1, 'made')
  event('tool_call_start', 1, 'b')
  piece('output', 1, 'other', 'b')
  event('tool_call_start', 1)
  expect(shown.filter((s) => !s.startsWith('<'))).toEqual(['made', 'other'])
  expect(shown.indexOf('made')).toBe(shown.indexOf('<tool_call_start 1>', 2) + 1)
})

it('loses nothing that it holds when the run ends', () => {
  const { shown, order, piece } = told()
  piece('text', 3, 'last')
  expect(shown).toEqual([])
  order.flush()
  expect(shown).toEqual(['last'])
})
