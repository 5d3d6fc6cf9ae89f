import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import {
  type CreateMcpHandlerOptions,
  createMcpHandler,
  type McpServer,
  type Server,
} from '@modelcontextprotocol/server'

/** An MCP server for one run. */
export interface RunServer {
  /** An address on the loopback interface. */
  readonly url: string
  /** Required in every request, as `Authorization: Bearer <token>`. */
  readonly token: string
  /** Ends the server and its pending calls. */
  close(): Promise<void>
}

/** The longest arguments and answers, in bytes. */
export const MAX_BODY = 1024 * 1024

/**
 * Serves MCP on a separate port to the one run that knows the token. `offering` makes the server for a request; `ended`
 * aborts with the run. With `responseMode` "sse", answers are streams with keep-alive, for calls that wait for a person
 * longer than clients tolerate silence.
 */
export async function serveOnLoopback(
  offering: (ended: AbortSignal) => McpServer | Server,
  { responseMode = 'auto' }: Pick<CreateMcpHandlerOptions, 'responseMode'> = {},
): Promise<RunServer> {
  const token = randomBytes(32).toString('base64url')
  const over = new AbortController()
  const handler = createMcpHandler(() => offering(over.signal), { maxRequestBodySize: MAX_BODY, responseMode })
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

/** Compares in constant time, so that the time reveals nothing about the token. */
function isBearer(header: string | null, token: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${token}`)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
