import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../domain/log/json.ts'
import type { OfferedFunctions } from '../../domain/ports/spawn.ts'
import { SERVER } from '../../domain/spawn/prompt.ts'

/** A server of functions for one run. */
export interface FunctionServer {
  /** On the loopback interface. */
  readonly url: string
  /** Every request needs it, as `Authorization: Bearer <token>`. */
  readonly token: string
  /** Ends it, and the calls under way. */
  close(): Promise<void>
}

export interface FunctionServerOptions {
  readonly agentId: string
  readonly functions: OfferedFunctions
  readonly version: string
}

/** The longest arguments and answers, in bytes. */
const MAX_BODY = 1024 * 1024

/** Offers functions to the one run that knows the token, over MCP on a port of its own. */
export async function serveFunctions({ agentId, functions, version }: FunctionServerOptions): Promise<FunctionServer> {
  const token = randomBytes(32).toString('base64url')
  const over = new AbortController()
  const handler = createMcpHandler(() => offering({ agentId, functions, version }, over.signal), {
    maxRequestBodySize: MAX_BODY,
  })
  const listener = getRequestListener(async (request) => {
    if (!isBearer(request.headers.get('authorization'), token)) return new Response(null, { status: 401 })
    return handler.fetch(request)
  })
  const server = createServer((req, res) => void listener(req, res))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    token,
    async close() {
      over.abort(new Error('the run has ended'))
      await handler.close()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

function offering({ agentId, functions, version }: FunctionServerOptions, ended: AbortSignal): McpServer {
  const server = new McpServer({ name: SERVER, version })
  for (const { name, description, parameters } of functions.list()) {
    const inputSchema = fromJsonSchema<JsonObject>(parameters as never)
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

/** Compared in a time that tells nothing of the token. */
function isBearer(header: string | null, token: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${token}`)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
