import { realpath } from 'node:fs/promises'
import { type McpLease, McpPool } from '../../../adapters/mcp/pool.ts'
import { secretsOfServers } from '../../../adapters/mcp/settings.ts'
import { findProgram } from '../../../adapters/processes/programs.ts'
import { inWorkspaces } from '../../../adapters/processes/workspaces.ts'
import { processRegistry } from '../../../adapters/sandbox/registry.ts'
import { secretsOfWeb } from '../../../adapters/web/settings.ts'
import { changedIn, meaningOf } from '../../../domain/agent/rules/tool-change.ts'
import { ToolChanged, ToolError } from '../../../domain/calls/errors.ts'
import type { ToolSpec } from '../../../domain/calls/tools/tool-spec.ts'
import type { Tool, Vault } from '../../../domain/ports/index.ts'
import type { AgentSpec } from '../../../domain/tree/spec.ts'
import type { Tell } from '../../operations/notices.ts'
import { VERSION } from '../../version.ts'
import type { Config } from '../config/settings.ts'
import { type HostFiles, hiddenFrom } from '../files/hidden-paths.ts'
import { SystemClock } from './clock.ts'

// External tools: their secrets, and the tools of MCP servers during a drive.

/** The value of a secret that a tool's settings name. Rejects with ToolError SECRET_UNAVAILABLE. */
export async function secretOf(vault: Vault, name: string): Promise<string> {
  const value = await vault.get(name)
  if (value !== null) return value
  const what = `no value for ${name}; set the variable, or: keepup secrets set ${name}`
  throw new ToolError('SECRET_UNAVAILABLE', what, { beforeEffect: true })
}

/** The names of secrets in tools' settings. Runs must hide their values. */
export const secretsOfTools = ({ web, mcp }: Pick<Config, 'web' | 'mcp'>): string[] => [
  ...new Set([...(web === null ? [] : secretsOfWeb(web)), ...secretsOfServers(mcp)]),
]

/** The pool of the configured MCP servers. A server starts only on demand. */
export const mcpPool = (
  config: HostFiles & Pick<Config, 'mcp' | 'sandboxReadable'>,
  secret: (name: string) => Promise<string>,
  tell: Tell,
): McpPool => {
  const { data, mcp } = config
  return new McpPool({
    settings: mcp,
    dataFolder: data,
    readable: config.sandboxReadable,
    hidden: (folder) => hiddenFrom(config, folder ?? data),
    program: (name) => (name.startsWith('/') ? name : findProgram(name, { writable: inWorkspaces(data, data) })),
    secret,
    env: process.env,
    clock: new SystemClock(),
    version: VERSION,
    ...(Object.keys(mcp).length > 0 && { registry: processRegistry(data, 'mcp') }),
    warn: tell,
  })
}

/** The tools that the configured MCP servers offer at present to a run in this folder, and the faults of the others. */
export async function servedTools(
  pool: McpPool,
  workspace: string | null,
): Promise<{ specs: readonly ToolSpec[]; faults: readonly string[] }> {
  // Use the real path like the drive does. A different path would start separate server processes.
  const folder = workspace === null ? null : await realpath(workspace).catch(() => workspace)
  const leases = await Promise.all(pool.servers.map((server) => pool.lease(server, folder)))
  try {
    return {
      specs: leases.flatMap(({ tools }) => tools().map(({ spec }) => spec)),
      faults: leases.flatMap(({ faults }) => faults),
    }
  } finally {
    for (const { release } of leases) release()
  }
}

/** The tools of MCP servers for one drive. The first call of a server's tool connects to the server. */
export class DriveTools {
  readonly #pool: McpPool
  readonly #spec: Pick<AgentSpec, 'tools' | 'workspace'>
  readonly #leases: McpLease[] = []
  #closed = false

  constructor(pool: McpPool, spec: Pick<AgentSpec, 'tools' | 'workspace'>) {
    this.#pool = pool
    this.#spec = spec
  }

  /** The tool as recorded by the run. Undefined: no configured server has it. */
  tool(name: string): Tool | undefined {
    const spec = this.#spec.tools.find((one) => one.name === name)
    const server = this.#pool.serverOf(name)
    if (spec === undefined || server === null) return undefined
    return {
      spec,
      run: async (args, context) => (await this.#offered(server, context.tool ?? spec)).run(args, context),
    }
  }

  /** Releases the servers: this drive makes no more calls. `ends`: the run makes no more calls either. */
  close(ends = false): void {
    this.#closed = true
    for (const lease of this.#leases.splice(0)) lease.release(ends)
  }

  /** Each call reconnects to a lost server. The drive keeps the connection until its end. */
  async #offered(server: string, spec: ToolSpec): Promise<Tool> {
    const lease = await this.#pool.lease(server, this.#spec.workspace?.path ?? null)
    if (this.#closed) lease.release()
    else this.#leases.push(lease)
    const { tools, faults } = lease
    const offered = tools().find((one) => one.spec.name === spec.name)
    if (offered === undefined) {
      const why = faults.length > 0 ? `: ${faults.join('; ')}` : ''
      throw new ToolError('RESOURCE_NOT_FOUND', `nothing was done: ${spec.name} cannot be had${why}`, {
        beforeEffect: true,
      })
    }
    // The run's model, policy and approvals rely on the last recorded form of the tool.
    const changed = changedIn(spec, offered.spec)
    if (changed.length === 0) return offered
    throw new ToolChanged(
      meaningOf(offered.spec),
      `its MCP server has changed ${changed.join(' and ')} of ${spec.name}`,
    )
  }
}
