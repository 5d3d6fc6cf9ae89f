import { createSandbox } from '../../adapters/sandbox/bubblewrap.ts'
import { reap } from '../../adapters/sandbox/registry.ts'
import { createUnconfined } from '../../adapters/sandbox/unconfined.ts'
import { lockWorkspace } from '../../adapters/workspace/lock.ts'
import { openWorkspace } from '../../adapters/workspace/open.ts'
import type { AgentSpec } from '../../domain/agent/spec.ts'
import type { Sandbox, Workspace } from '../../domain/ports.ts'
import type { Environment } from '../../domain/runtime/ports.ts'
import type { Boundary } from './boundary.ts'

/** What a run works in: its folder, which no other run has meanwhile, and commands as its policy says. */
export async function openEnvironment(
  dataFolder: string,
  spec: AgentSpec,
  driverId: string,
  boundary: Boundary,
  warn: (text: string) => void,
): Promise<Environment> {
  const path = spec.workspace?.path
  const lock = path === undefined ? null : lockWorkspace(path, dataFolder)
  try {
    const options = { dataFolder, secrets: boundary.versions, recorded: true, warn }
    const workspace = path === undefined ? null : await openWorkspace(path, options)
    return {
      workspace,
      sandbox: workspace === null ? null : await sandboxOf(dataFolder, spec, driverId, workspace),
      secrets: boundary.secrets,
      reap: async () => {
        reap(dataFolder)
      },
      close: async () => lock?.release(),
    }
  } catch (error) {
    lock?.release()
    throw error
  }
}

/** Never weaker than the policy: where a confined run cannot be confined, it cannot be driven. */
async function sandboxOf(
  dataFolder: string,
  spec: AgentSpec,
  driverId: string,
  workspace: Workspace,
): Promise<Sandbox | null> {
  if (!spec.tools.some((tool) => tool.name === 'run_command')) return null
  return spec.policy.sandboxed
    ? createSandbox({ workspace: workspace.path, hide: [dataFolder] })
    : createUnconfined({ workspace: workspace.path, dataFolder, driverId })
}
