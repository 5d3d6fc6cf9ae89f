import type { Right } from '../control/control-tool.ts'
import { controlToolNamed } from '../control/registry.ts'
import type { Policy } from '../definition/spec.ts'
import { asksInMode, canonicalTool, covers, matches } from '../definition/tool-patterns.ts'
import type { ToolSpec } from '../definition/tools.ts'
import type { Failure } from '../events/events.ts'
import { controlKind } from '../state/controls.ts'
import type { Permission } from '../state/permissions.ts'
import { phaseTools, toolsOfPhase } from '../state/phases.ts'
import { type AgentState, recoveryOf } from '../state/state.ts'
import { permissionFor } from './permissions.ts'

// PolicyEngine: the tools that an agent is offered, and the calls that need a person (seed 000, 5.3 and 5.12).

/** Why a tool may not be called now, or null. */
export function denial(state: AgentState, tool: ToolSpec): Failure | null {
  const refused = refusedByPolicy(state, tool)
  return refused === null || liftedBy(state, tool, refused) !== undefined ? null : refused
}

/** The permission that lifts this refusal; undefined: none. */
export const liftedBy = (state: AgentState, tool: ToolSpec, refused: Failure): Permission | undefined =>
  mayLift(state, refused) ? permissionFor(state, tool.name) : undefined

/**
 * Whether a person may lift a refusal. A child's policy states what its parent may do, and a child has at most its
 * parent's rights (CONTRACTS 3), so only the refusals by its phase can be lifted.
 */
const mayLift = ({ parent }: AgentState, { rule }: Failure): boolean => parent === null || rule === 'phase'

export function rightTo(state: AgentState, tool: ToolSpec): Right {
  const refused = denial(state, tool)
  if (refused === null) return 'call'
  return mayLift(state, refused) ? 'ask' : 'none'
}

/** Why the policy alone refuses a tool now, or null. Deny beats allow. An allowlist does not restrict control tools. */
export function refusedByPolicy(state: AgentState, tool: ToolSpec): Failure | null {
  if (tool.control === 'completes') return null
  const { policy } = state.spec
  const denied = (rule: string, message: string): Failure => ({ code: 'PERMISSION_DENIED', rule, message })
  if (deniedByName(policy, tool)) return denied('denied', `${tool.name} is denied by the run's policy`)
  const inPhase = phaseTools(state)
  if (tool.control && controlToolNamed(tool.name)?.needsTools && inPhase?.length === 0)
    return denied('phase', `${tool.name} is not available in phase "${state.phase}", which has no tools`)
  if (tool.control) return null
  if (!covers(policy.allowedTools, tool.name)) {
    return denied('not_allowed', `${tool.name} is not among the tools that the run's policy allows`)
  }
  if (inPhase !== null && !inPhase.some((pattern) => matches(pattern, tool.name))) {
    return denied(
      'phase',
      `${tool.name} is not available in phase "${state.phase}" (available: ${toolsOfPhase(state.spec, state.phase).join(', ') || 'none'}); use advance_phase to change phase`,
    )
  }
  return null
}

/** Only their exact name denies control tools: `*` and prefixes do not cover them. */
function deniedByName(policy: Policy, tool: ToolSpec): boolean {
  return tool.control
    ? policy.deniedTools.some((pattern) => canonicalTool(pattern) === tool.name)
    : covers(policy.deniedTools, tool.name)
}

/** The tools offered to the model now; in recovery only the tool that completes the run. */
export function offeredTools(state: AgentState): readonly ToolSpec[] {
  if (recoveryOf(state.machine) !== null) return state.spec.tools.filter(({ control }) => control === 'completes')
  return state.spec.tools.filter((tool) => denial(state, tool) === null)
}

/** Why a call of this tool needs a person's approval, or null. A standing approval counts as approval. */
export function needsApproval(state: AgentState, toolName: string): string | null {
  const kind = controlKind(state, toolName)
  const own = kind === false ? undefined : controlToolNamed(toolName)?.approval
  if (own !== undefined) return own
  if (kind === 'completes' || covers(state.standing, toolName)) return null
  const { policy } = state.spec
  const patterns = policy.requiresApproval.filter((pattern) => pattern !== '*' || kind === false)
  if (covers(patterns, toolName)) {
    return `the policy asks for approval of ${toolName}`
  }
  if (asksInMode(policy.mode, toolName)) {
    return `${toolName} needs approval in interactive mode`
  }
  return null
}
