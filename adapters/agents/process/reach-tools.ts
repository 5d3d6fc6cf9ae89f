import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OfferedTools } from '../../../domain/ports/external.ts'
import { OWN_TOOLS, serveTools } from '../../mcp/served/own-tools.ts'
import type { ReachedTools } from './cli-agent.ts'

/** Serves keepup's own tools to one run until `close`. The token is valid only for this server. */
export async function reachTools(
  tools: OfferedTools,
  ours: NodeJS.ProcessEnv,
): Promise<{ readonly tools: ReachedTools; close(): Promise<void> }> {
  const { url, token, close } = await serveTools(tools)
  const folder = mkdtempSync(join(tmpdir(), 'keepup-tools-'))
  const file = (name: string, content: string) => {
    const path = join(folder, name)
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }
  return {
    tools: { server: OWN_TOOLS, tools: tools.list().map(({ name }) => name), url, token, ours, folder, file },
    async close() {
      rmSync(folder, { recursive: true, force: true })
      await close()
    },
  }
}
