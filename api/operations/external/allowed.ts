import { MCP } from '../../../adapters/agents/cli/claude-code.ts'
import { notAllowed } from '../../../adapters/agents/process/environment.ts'
import type { AgentRunRequest } from '../../../domain/ports/external.ts'
import { Problem } from '../problem.ts'

/**
 * The values that requests over the network may give an agent: the settings `agents.env` and
 * `agents.folders`.
 */
export interface AgentsAllowed {
  /** Names of variables. */
  readonly env: readonly string[]
  /** Folders in which, and below which, it may work. */
  readonly folders: readonly string[]
}

/** Extensions for programs of this machine alone: with what the file says any program can be started. */
const LOCAL: ReadonlySet<string> = new Set([MCP])

/** Rejects with `AGENT_NOT_ALLOWED` what a request over the network may not ask for. It names no value. */
export function mustBeAllowed(allowed: AgentsAllowed, { workingDir, env, extensions }: AgentRunRequest): void {
  const local = Object.keys(extensions ?? {}).find((id) => LOCAL.has(id))
  if (local !== undefined)
    throw new Problem(
      'AGENT_NOT_ALLOWED',
      `${local} names a file of this machine; it cannot be asked for over the network`,
    )
  const folders = [workingDir ?? '/', ...(extensions?.['agent_api.exec.add_dirs.v1']?.dirs ?? [])]
  const fault = notAllowed(allowed, env, folders)
  if (fault === null) return
  const setting = fault.startsWith('env') ? 'agents.env' : 'agents.folders'
  throw new Problem(
    'AGENT_NOT_ALLOWED',
    `${fault.replace('workingDir', 'workspace')}; requests over the network may use what "${setting}" in keepup.json lists`,
  )
}
