import type { McpPool } from '../../../adapters/mcp/pool.ts'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { reap } from '../../../adapters/sandbox/registry.ts'
import { createUnconfined } from '../../../adapters/sandbox/unconfined.ts'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import type { RunLocks } from '../../../adapters/workspace/run-locks.ts'
import type { Sandbox, Tool, Workspace } from '../../../domain/ports/index.ts'
import type { Environment } from '../../../domain/ports/runtime.ts'
import { type AgentSpec, canRunCommands } from '../../../domain/tree/spec.ts'
import type { Config } from '../config/settings.ts'
import { type HostFiles, hiddenFrom, refuseSecretsIn } from '../files/hidden-paths.ts'
import { DriveTools } from './outside-tools.ts'
import type { Boundary } from './secret-boundary.ts'

/** The parts of the host for an environment. */
interface HostParts {
  readonly config: HostFiles & Pick<Config, 'sandboxReadable'>
  readonly locks: RunLocks
  /** The host's tools by name. */
  readonly tools: ReadonlyMap<string, Tool>
  readonly mcp: McpPool
  readonly boundary: Boundary
  warn(text: string): void
}

/** Opens an agent's environment: the folder of its run, locked against other runs, its tools, and its sandbox. */
export async function openEnvironment(
  { config, locks, tools, mcp, boundary, warn }: HostParts,
  spec: AgentSpec,
  { runId, driverId }: { readonly runId: string; readonly driverId: string },
): Promise<Environment> {
  const dataFolder = config.data
  const path = spec.workspace?.path
  const lock = path === undefined ? null : locks.take(path, runId)
  try {
    const options = { dataFolder, secrets: boundary.versions, recorded: true, warn }
    const workspace = path === undefined ? null : await openWorkspace(path, options)
    if (workspace !== null) await refuseSecretsIn(workspace.path, config)
    const outside = new DriveTools(mcp, spec)
    return {
      workspace,
      sandbox: workspace === null ? null : await sandboxOf(config, spec, driverId, workspace, warn),
      secrets: boundary.secrets,
      tool: (name) => tools.get(name) ?? outside.tool(name),
      reap: async () => {
        reap(dataFolder)
      },
      close: async (ends) => {
        outside.close(ends)
        lock?.release()
      },
    }
  } catch (error) {
    lock?.release()
    throw error
  }
}

/** Rejects if the policy requires a sandbox and none can be created. */
async function sandboxOf(
  config: HostParts['config'],
  spec: AgentSpec,
  driverId: string,
  { path: workspace }: Workspace,
  warn: (text: string) => void,
): Promise<Sandbox | null> {
  if (!canRunCommands(spec)) return null
  return spec.policy.sandboxed
    ? createSandbox({
        workspace,
        hide: await hiddenFrom(config, workspace),
        readable: config.sandboxReadable,
        dataFolder: config.data,
        driverId,
        warn,
      })
    : createUnconfined({ workspace, dataFolder: config.data, driverId })
}
