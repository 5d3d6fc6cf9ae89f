import { MCP } from '../../../adapters/agents/cli/claude-code.ts'
import { notAllowed } from '../../../adapters/agents/process/environment.ts'
import type { AgentRunRequest } from '../../../domain/ports/external.ts'
import { Problem } from '../problem.ts'

/** The values that requests over the network may pass to an agent: the settings `agents.env` and `agents.folders`. */
export interface AgentsAllowed {
  /** Names of variables. */
  readonly env: readonly string[]
  /** The agent may work in these folders and below. */
  readonly folders: readonly string[]
}

/** Extensions only for local programs: their file can name any program to start. */
const LOCAL: ReadonlySet<string> = new Set([MCP])

/**
 * Throws `AGENT_NOT_ALLOWED` for parts that a request over the network may not contain. The error contains no values.
 */
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
