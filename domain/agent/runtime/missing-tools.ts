import { CommandRejected } from '../../calls/errors.ts'
import { echo } from '../../log/issues.ts'
import type { RuntimePorts } from '../../ports/runtime.ts'
import type { AgentSpec } from '../../tree/spec.ts'
import type { AgentState } from '../state/state.ts'

type Host = Pick<RuntimePorts, 'hasTool'>

export const missingTools = (host: Host, { tools }: Pick<AgentSpec, 'tools'>): string[] =>
  tools.filter(({ name, control }) => !control && !host.hasTool(name)).map(({ name }) => name)

/**
 * Throws CommandRejected TOOLS_MISSING if this program lacks tools of the agent, because the model would be told that
 * they do not exist. An agent that is being cancelled needs no tools.
 */
export function mustHaveTools(host: Host, { agentId, spec, cancel }: AgentState): void {
  if (cancel !== null) return
  const missing = missingTools(host, spec)
  if (missing.length === 0) return
  const names = missing.map(echo).join(', ')
  throw new CommandRejected(
    'TOOLS_MISSING',
    `${agentId} has tools that this program does not have: ${names}; the program that has them must drive it`,
  )
}
