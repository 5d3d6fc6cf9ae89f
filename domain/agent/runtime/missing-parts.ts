import { CommandRejected } from '../../calls/errors.ts'
import { echo } from '../../log/issues.ts'
import type { RuntimePorts } from '../../ports/runtime.ts'
import type { AgentSpec } from '../../tree/spec.ts'
import type { AgentState } from '../state/state.ts'

type Host = Pick<RuntimePorts, 'hasTool' | 'hasProvider'>

export const missingTools = (host: Host, { tools }: Pick<AgentSpec, 'tools'>): string[] =>
  tools.filter(({ name, control }) => !control && !host.hasTool(name)).map(({ name }) => name)

/** The models that the agent may call, the safe default too, whose providers only another program has. */
function foreignModels(host: Host, { models }: Pick<AgentSpec, 'models'>): string[] {
  const { requested, safeDefault, routing } = models
  const ids = new Set([requested, safeDefault, ...(routing?.models ?? [])])
  return [...ids].filter((id) => host.hasProvider?.(id) === false)
}

/** Whether this program has all tools and providers of the agent. */
export const hasParts = (host: Host, spec: Pick<AgentSpec, 'tools' | 'models'>): boolean =>
  missingTools(host, spec).length === 0 && foreignModels(host, spec).length === 0

/**
 * Throws CommandRejected TOOLS_MISSING if this program lacks tools of the agent, because the model would be told that
 * they do not exist, and PROVIDER_MISSING if it lacks a provider of its models, because the run would fail. An agent that is
 * being cancelled needs neither.
 */
export function mustHaveParts(host: Host, { agentId, spec, cancel }: AgentState): void {
  if (cancel !== null) return
  const tools = missingTools(host, spec)
  if (tools.length > 0)
    throw new CommandRejected(
      'TOOLS_MISSING',
      `${agentId} has tools that this program does not have: ${tools.map(echo).join(', ')}; the program that has them must drive it`,
    )
  const models = foreignModels(host, spec)
  if (models.length > 0)
    throw new CommandRejected(
      'PROVIDER_MISSING',
      `${agentId} uses models whose providers this program does not have: ${models.map(echo).join(', ')}; the program that has them must drive it`,
    )
}
