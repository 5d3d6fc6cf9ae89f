import { expect, test } from 'vitest'
import { buildPrompt } from '../../../domain/external/spawn/prompt.ts'

// Seed 004, Agent Execution; CONTRACTS 14, Prompt: byte for byte.

const ref = { key: 'notes', type: 'string', bytes: 12 } as const

test('given a prompt alone, then the prompt is the whole', () => {
  expect(buildPrompt({ prompt: 'Find the bug.' })).toBe('Find the bug.')
  expect(buildPrompt({ prompt: 'Find the bug.', functions: [] })).toBe('Find the bug.')
})

test('given a context variable, then its reference and summary follow a blank line', () => {
  expect(buildPrompt({ prompt: 'Go.', context: { ref, summary: 'line 1\nline' } })).toBe(
    'Go.\n\nContext variable "notes" (12 bytes, type: string):\nline 1\nline',
  )
})

test('given a parent, then the sub-agent is told so', () => {
  expect(buildPrompt({ prompt: 'Go.', parentId: 'p' })).toBe(
    'Go.\n\nYou are a sub-agent. Complete your task and return the result.',
  )
})

test('given functions, then they are listed by name, after all else', () => {
  const functions = [
    { name: 'zoom', description: 'Looks closer.' },
    { name: 'add', description: 'Adds numbers.' },
  ]
  expect(buildPrompt({ prompt: 'Go.', context: { ref, summary: 's' }, parentId: 'p', functions })).toBe(
    [
      'Go.',
      '',
      'Context variable "notes" (12 bytes, type: string):',
      's',
      '',
      'You are a sub-agent. Complete your task and return the result.',
      '',
      'Available functions (MCP server "keepup"):',
      '- add: Adds numbers.',
      '- zoom: Looks closer.',
    ].join('\n'),
  )
})
