import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVER } from '../../../domain/external/spawn/prompt.ts'
import type { OfferedFunctions } from '../../../domain/ports/spawn.ts'

/** Functions that a run may call until `close`. */
export interface ServedFunctions {
  /** The value of Claude Code's extension for MCP servers. */
  readonly mcp: { readonly config: string; readonly tools: readonly string[] }
  close(): Promise<void>
}

/**
 * Serves functions to one run. The token is in a file that only this user can read, because every user can see command
 * line arguments.
 */
export async function servedFunctions(
  agentId: string,
  functions: OfferedFunctions,
  version: string,
): Promise<ServedFunctions> {
  // The MCP library is large, and most programs register no functions.
  const { serveFunctions } = await import('../../mcp/served/server.ts')
  const server = await serveFunctions({ agentId, functions, version })
  const folder = mkdtempSync(join(tmpdir(), 'keepup-functions-'))
  const config = join(folder, 'mcp.json')
  const headers = { Authorization: `Bearer ${server.token}` }
  writeFileSync(config, JSON.stringify({ mcpServers: { [SERVER]: { type: 'http', url: server.url, headers } } }), {
    mode: 0o600,
  })
  return {
    mcp: { config, tools: functions.list().map(({ name }) => `mcp__${SERVER}__${name}`) },
    async close() {
      rmSync(folder, { recursive: true, force: true })
      await server.close()
    },
  }
}
