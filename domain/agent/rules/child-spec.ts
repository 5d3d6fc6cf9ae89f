import { matches } from '../../calls/tools/tool-patterns.ts'
import type { ToolSpec } from '../../calls/tools/tool-spec.ts'
import type { AgentSpec, RoleDefinition } from '../../tree/spec.ts'
import { permitted, toolsWithin } from '../control/delegate-to-agent.ts'
import { controlToolNamed, controlTools, isOnRequest } from '../control/registry.ts'
import type { BodyOf } from '../events/events.ts'

// The spec of a new child. A child never gets a right that its parent lacks.

type Parent = AgentSpec & { readonly delegation: NonNullable<AgentSpec['delegation']> }

/**
 * The complete spec of a child. Its rights are a subset of the parent's: the tools that the parent may use and the
 * constraints name, under the same denials, approvals and sandbox. Its limits come from its role, its budget from its
 * grant. It inherits no context variables, instructions or approvals. Null: the parent has no such role.
 */
export function childSpec(
  parent: AgentSpec,
  { role, constraints, grant, tree }: BodyOf<'child_delegated'>,
): AgentSpec | null {
  const definition = parent.delegation?.roles[role as keyof Parent['delegation']['roles']]
  if (parent.delegation === undefined || definition === undefined) return null
  const own = toolsWithin(parent, constraints)
  const tools = [...controls(parent, definition), ...own]
  const roles = Object.fromEntries(
    Object.entries(parent.delegation.roles).map(([name, one]) => [name, narrowed(one, parent, tools)]),
  )
  const { instructions: _, withheld = [], ...inherited } = parent
  const refused = permitted(parent).filter((tool) => !own.includes(tool))
  const kept = [...withheld, ...refused.map(({ name }) => name)]
  const { tokens, nanoDollars, agents } = grant
  return {
    ...inherited,
    role: narrowed(definition, parent, tools),
    policy: {
      ...parent.policy,
      allowedTools: own.map(({ name }) => name),
      deniedTools: parent.policy.deniedTools.filter((pattern) => concerns(pattern, tools)),
      requiresApproval: parent.policy.requiresApproval.filter((pattern) => concerns(pattern, tools)),
    },
    limits: { ...parent.limits, maxTurns: definition.maxReactLoop + parent.recovery.graceTurns },
    budget: { tokens, nanoDollars },
    tools,
    workspace: parent.workspace && { path: parent.workspace.path, tree },
    contextVariables: {},
    delegation: { ...parent.delegation, agents, roles },
    ...(kept.length > 0 && { withheld: kept }),
  }
}

/**
 * The control tools of a child: those that the parent has too, and those that need a role. The latter grant no rights,
 * and the parent may have no role.
 */
function controls(parent: AgentSpec, role: RoleDefinition): readonly ToolSpec[] {
  const has = ({ name }: ToolSpec) => parent.tools.some((tool) => tool.name === name)
  const asked = parent.tools.filter(({ name, control }) => control && isOnRequest(name))
  return [...controlTools(role).filter((tool) => controlToolNamed(tool.name)?.needsRole || has(tool)), ...asked]
}

/** A pattern that covers none of these tools would be rejected as unknown. */
const concerns = (pattern: string, tools: readonly ToolSpec[]): boolean =>
  tools.some(({ name }) => matches(pattern, name))

/** The role without tools that the child lacks, because the role may name only tools that the child's run knows. */
function narrowed(role: RoleDefinition, parent: AgentSpec, tools: readonly ToolSpec[]): RoleDefinition {
  const lost = (pattern: string) => concerns(pattern, parent.tools) && !concerns(pattern, tools)
  const phases = role.phases.map((phase) => ({
    ...phase,
    allowedTools: phase.allowedTools.filter((pattern) => !lost(pattern)),
  }))
  return { ...role, phases }
}
