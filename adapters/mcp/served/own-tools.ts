import { Server } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { OfferedTools } from '../../../domain/ports/external.ts'
import { type RunServer, serveOnLoopback } from './loopback.ts'

/** The name under which another agent knows keepup's tools. A person may have configured a server called keepup. */
export const OWN_TOOLS = 'keepup_tools'

const VERSION = '1'

/**
 * Offers keepup's own tools to one run. Every call is passed on as it came, also of tools that do not exist: what is refused is
 * recorded too.
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
