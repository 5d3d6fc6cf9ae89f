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
  /** On the loopback interface. */
  readonly url: string
  /** Every request needs it, as `Authorization: Bearer <token>`. */
  readonly token: string
  /** Ends it, and the calls under way. */
  close(): Promise<void>
}

/** The longest arguments and answers, in bytes. */
export const MAX_BODY = 1024 * 1024

/**
 * Serves the one run that knows the token, over MCP on a port of its own. `offering` makes the server of a request; `ended` aborts
 * with the run. `responseMode` "sse": answers are streams that are kept alive, for calls that may wait for a person longer than
 * clients wait in silence.
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

/** Compared in a time that tells nothing of the token. */
function isBearer(header: string | null, token: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${token}`)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
