import { expect, test } from 'vitest'
import { SaidText, SeenIds } from '../../../adapters/agents/cli/bounded-memory.ts'
import { codex } from '../../../adapters/agents/cli/codex.ts'
import { boundFinalText } from '../../../domain/external/bounds.ts'

test('of text in pieces as much is kept as the final text may hold, and it is the same final text', () => {
  const said = new SaidText()
  expect(said.text).toBeNull()
  const piece = 'é'.repeat(1_000)
  for (let i = 0; i < 1_000; i++) said.add(piece)
  expect(said.text!.length).toBeLessThan(70_000)
  expect(boundFinalText(said.text!)).toBe(boundFinalText(piece.repeat(1_000)))
  said.clear()
  expect(said.text).toBeNull()
})

test('ids are told apart, and of very many the oldest are forgotten', () => {
  const seen = new SeenIds()
  expect([seen.add('a'), seen.add('a'), seen.add('b')]).toEqual([true, false, true])
  for (let i = 0; i < 10_000; i++) seen.add(`id ${i}`)
  expect([seen.add('id 9999'), seen.add('a')]).toEqual([false, true])
})

test('a tool that is told to begin several times begins once', () => {
  const mapping = codex.mapping()
  const item = { id: 'i', type: 'command_execution', command: 'x', status: 'in_progress' }
  const kinds = ['item.started', 'item.updated', 'item.completed'].map((type) =>
    (mapping.line({ type, item }).events ?? []).map(({ kind }) => kind),
  )
  expect(kinds).toEqual([['ToolCall'], [], ['ToolResult']])
})
