import type { Tool } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { offerOf } from '../../../adapters/tools-mcp/offered-tools.ts'
import { McpServer } from '../../../adapters/tools-mcp/settings.ts'

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
