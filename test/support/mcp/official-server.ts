import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

// An MCP server with the official package. It speaks both protocol eras.

serveStdio(({ era }) => {
  const server = new McpServer({ name: 'official', version: '1' })
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers.',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      annotations: { readOnlyHint: true },
    },
    async ({ a, b }) => ({ content: [{ type: 'text', text: `${a + b}, in the ${era} era` }] }),
  )
  return server
})
