import { expect, it } from 'vitest'
import { originOfResult, type ResultOfTool } from '../../domain/calls/trust.ts'

const origin = (toolName: string, more: Partial<ResultOfTool> = {}) =>
  originOfResult({ toolName, untrustedBefore: false, sandboxed: true, ...more })

it.each([
  ['read_url', 'web', true],
  ['search_web', 'web', true],
  ['server:tool', 'tool', true],
  ['delegate_to_agent', 'agent', true],
  ['send_message', 'agent', true],
  ['read_document', 'document', true],
  ['recall', 'memory', true],
  ['read_file', 'workspace', false],
  ['run_command', 'command', false],
  ['ask_user', 'person', false],
  ['advance_phase', 'runtime', false],
  ['constructor', 'runtime', false],
])('a result of %s is from %s, untrusted: %s', (toolName, source, untrusted) => {
  expect(origin(toolName)).toEqual({ source, untrusted })
})

it('the mark of a tool decides', () => {
  expect(origin('read_file', { detail: { untrusted: 'mcp' } })).toEqual({ source: 'mcp', untrusted: true })
  expect(origin('read_file', { detail: { untrusted: true } })).toEqual({ source: 'workspace', untrusted: false })
})

it('a command without the sandbox has the network', () => {
  expect(origin('run_command', { sandboxed: false }).untrusted).toBe(true)
})

it('a tool that shows earlier texts is as untrusted as they are', () => {
  for (const toolName of ['read_history', 'read_result']) {
    expect(origin(toolName).untrusted).toBe(false)
    expect(origin(toolName, { untrustedBefore: true }).untrusted).toBe(true)
  }
})
