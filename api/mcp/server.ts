import { McpServer } from '@modelcontextprotocol/server'
import { Refused } from '../cli/client.ts'
import type { Context } from '../cli/context.ts'
import { CliError, UsageError } from '../cli/exit.ts'
import { VERSION } from '../version.ts'
import { SERVED_TOOLS } from './tools.ts'

/** The longest answer of one call, in bytes of JSON. */
const MAX_ANSWER = 1024 * 1024

/** keepup as an MCP server. `readOnly`: offer no tools that record anything. */
export function mcpServer(ctx: Context, { readOnly }: { readonly readOnly: boolean }): McpServer {
  const server = new McpServer({ name: 'keepup', version: VERSION })
  for (const { name, description, input, changes, call } of SERVED_TOOLS) {
    if (changes && readOnly) continue
    const annotations = { readOnlyHint: !changes, openWorldHint: false }
    server.registerTool(name, { description, inputSchema: input, annotations }, async (args) => {
      try {
        return told(JSON.stringify(await call(ctx, args as never)))
      } catch (error) {
        return { ...told(refusalOf(error)), isError: true }
      }
    })
  }
  return server
}

const told = (text: string) => {
  const shown = Buffer.byteLength(text) <= MAX_ANSWER ? text : `the answer is over ${MAX_ANSWER} bytes; ask for less`
  return { content: [{ type: 'text' as const, text: shown }], isError: shown !== text }
}

/** The message of a refusal. Rethrows any other error, so its details are not sent. */
function refusalOf(error: unknown): string {
  if (error instanceof Refused) return `${error.code}: ${error.message}`
  if (error instanceof CliError || error instanceof UsageError) return error.message
  throw error
}
