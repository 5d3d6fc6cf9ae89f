import { CommandRejected } from '../../calls/errors.ts'
import { echo } from '../../log/issues.ts'
import type { RuntimePorts } from '../../ports/runtime.ts'
import type { AgentSpec } from '../../tree/spec.ts'
import type { AgentState } from '../state/state.ts'

type Host = Pick<RuntimePorts, 'hasTool' | 'hasProvider'>

type Parts = Pick<AgentSpec, 'tools' | 'models'>

/** The parts of an agent that only another program has. */
export interface MissingParts {
  readonly tools: readonly string[]
  /** The models that the agent may call, the safe default too, whose providers this program lacks. */
  readonly models: readonly string[]
}

export function missingParts(host: Host, { tools, models: { requested, safeDefault, routing } }: Parts): MissingParts {
  const models = new Set([requested, safeDefault, ...(routing?.models ?? [])])
  return {
    tools: tools.filter(({ name, control }) => !control && !host.hasTool(name)).map(({ name }) => name),
    models: [...models].filter((id) => host.hasProvider?.(id) === false),
  }
}

/** Whether this program has all tools and providers of the agent. */
export function hasParts(host: Host, spec: Parts): boolean {
  const { tools, models } = missingParts(host, spec)
  return tools.length + models.length === 0
}

/**
 * Throws CommandRejected TOOLS_MISSING if this program lacks tools of the agent, because the model would be told that
 * they do not exist, and PROVIDER_MISSING if it lacks a provider of its models, because the run would fail. An agent that is
 * being cancelled needs neither.
 */
export function mustHaveParts(host: Host, { agentId, spec, cancel }: AgentState): void {
  if (cancel !== null) return
  const { tools, models } = missingParts(host, spec)
  if (tools.length > 0)
    throw new CommandRejected(
      'TOOLS_MISSING',
      `${agentId} has tools that this program does not have: ${tools.map(echo).join(', ')}; the program that has them must drive it`,
    )
  if (models.length > 0)
    throw new CommandRejected(
      'PROVIDER_MISSING',
      `${agentId} uses models whose providers this program does not have: ${models.map(echo).join(', ')}; the program that has them must drive it`,
    )
}
