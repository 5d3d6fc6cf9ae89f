import { fromJsonSchema, type JsonSchemaType, McpServer } from '@modelcontextprotocol/server'
import { SERVER } from '../../../domain/external/spawn/prompt.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { OfferedFunctions } from '../../../domain/ports/spawn.ts'
import { MAX_BODY, type RunServer, serveOnLoopback } from './loopback.ts'

export interface FunctionServerOptions {
  readonly agentId: string
  readonly functions: OfferedFunctions
  readonly version: string
}

/** Offers functions to one run. */
export const serveFunctions = (options: FunctionServerOptions): Promise<RunServer> =>
  serveOnLoopback((ended) => offering(options, ended))

function offering({ agentId, functions, version }: FunctionServerOptions, ended: AbortSignal): McpServer {
  const server = new McpServer({ name: SERVER, version })
  for (const { name, description, parameters } of functions.list()) {
    const inputSchema = fromJsonSchema<JsonObject>(parameters as JsonSchemaType)
    server.registerTool(name, { description, inputSchema }, async (args, { mcpReq }) => {
      const signal = AbortSignal.any([ended, mcpReq.signal])
      try {
        const answer = await functions.call(name, args, { agentId, signal })
        return told(typeof answer === 'string' ? answer : JSON.stringify(answer), false)
      } catch (error) {
        return told(error instanceof Error ? error.message : String(error), true)
      }
    })
  }
  return server
}

function told(text: string, isError: boolean) {
  const fits = Buffer.byteLength(text) <= MAX_BODY
  const shown = fits ? text : `the answer is over ${MAX_BODY} bytes; ask for less`
  return { content: [{ type: 'text' as const, text: shown }], isError: isError || !fits }
}
