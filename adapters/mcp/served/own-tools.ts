import { Server } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { OfferedTools } from '../../../domain/ports/external.ts'
import { type RunServer, serveOnLoopback } from './loopback.ts'

/**
 * The name of keepup's tools for other agents. Not `keepup`, because a person may have configured a server with that
 * name.
 */
export const OWN_TOOLS = 'keepup_tools'

const VERSION = '1'

/**
 * Offers keepup's own tools to one run. Passes every call on unchanged, even calls of unknown tools, because refusals
 * are recorded too.
 */
export const serveTools = (tools: OfferedTools): Promise<RunServer> =>
  serveOnLoopback((ended) => offering(tools, ended), { responseMode: 'sse' })

function offering(tools: OfferedTools, ended: AbortSignal): Server {
  const server = new Server({ name: OWN_TOOLS, version: VERSION }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({
    tools: tools.list().map(({ name, description, parameters, readOnly }) => ({
      ...{ name, description },
      inputSchema: parameters as { type: 'object' },
      annotations: { readOnlyHint: readOnly },
    })),
  }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const signal = AbortSignal.any([ended, mcpReq.signal])
    const { text, isError } = await tools.call(params.name, (params.arguments ?? {}) as JsonObject, signal)
    return { content: [{ type: 'text', text }], isError }
  })
  return server
}
