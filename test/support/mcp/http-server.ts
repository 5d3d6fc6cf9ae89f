import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'

const TOOL = { name: 'echo', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }

interface Params {
  readonly protocolVersion: string
  readonly _meta?: { readonly traceparent?: string }
}

/** A streamable HTTP server of the older era. `onCall` answers calls of its tool. */
export const mcpOverHttp =
  (onCall: (res: ServerResponse, id: number, params: Params) => void, tools: () => readonly object[] = () => [TOOL]) =>
  async (res: ServerResponse, req: IncomingMessage) => {
    if (req.method !== 'POST') return void res.writeHead(405).end()
    const { id, method, params } = (await json(req)) as {
      id?: number
      method: string
      params: Params
    }
    const answer = (more: object) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...more }))
    if (id === undefined) res.writeHead(202).end()
    else if (method === 'initialize')
      answer({
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'h', version: '1' },
        },
      })
    else if (method === 'tools/list') answer({ result: { tools: tools() } })
    else if (method === 'tools/call') onCall(res, id, params)
    else answer({ error: { code: -32601, message: 'Method not found' } })
  }
