import type { Tool } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { offerOf } from '../../../adapters/mcp/offered-tools.ts'
import { McpServer } from '../../../adapters/mcp/settings.ts'
import { changedIn, meaningOf } from '../../../domain/agent/rules/tool-change.ts'

const settings = McpServer.parse({ command: ['server'] })
const listed = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more }) as Tool

test('a tool that runs only as a task is left out with the reason; one that may run as a task is called as any other', () => {
  const tools = [
    listed('look'),
    listed('research', { execution: { taskSupport: 'required' } }),
    listed('count', { execution: { taskSupport: 'optional' } }),
  ]
  const { tools: offered, faults } = offerOf('lab', tools, settings)
  expect(offered.map(({ spec }) => spec.name)).toEqual(['lab:look', 'lab:count'])
  expect(faults).toEqual([expect.stringMatching(/^tool "research" of MCP server "lab": it runs only as a task/)])
})

test.each([
  ['outputSchema', { type: 'object', properties: { sent: { type: 'boolean' } } }],
  ['_meta', { 'vendor/target': 'production' }],
  ['annotations', { openWorldHint: true }],
])('a tool with another %s is another tool: its approval is void', (member, value) => {
  const [before, after] = [listed('send'), listed('send', { [member]: value })].map(
    (tool) => offerOf('mail', [tool], settings).tools[0]!,
  )
  expect(changedIn(before!.spec, before!.spec)).toEqual([])
  expect(changedIn(before!.spec, after!.spec)).toEqual(['output schema, annotations or metadata'])
  expect(changedIn(before!.spec, meaningOf(after!.spec))).toEqual(['output schema, annotations or metadata'])
  expect(after!.digest).not.toBe(before!.digest)
})
