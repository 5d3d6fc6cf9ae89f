import { approversOf, type JudgedCall } from './approvers.ts'
import type { Caller } from './caller.ts'
import type { Failure } from './events/event-parts.ts'
import type { Permission } from './permissions.ts'
import { permissionFor } from './permissions.ts'
import type { Policy } from './policy-schema.ts'
import { phaseTools, toolsOfPhase } from './tools/phase-tools.ts'
import { asksInMode, canonicalTool, covers, matches } from './tools/tool-patterns.ts'
import type { ToolSpec } from './tools/tool-spec.ts'
import { controlKind } from './tools/tools.ts'

// PolicyEngine: the tools that an agent is offered, and the calls that need a person (seed 000, 5.3 and 5.12).

/** Whether an agent may call a tool now, may ask a person for it, or neither. */
export type Right = 'call' | 'ask' | 'none'

/** The rules of a control tool besides the policy. */
export interface ControlRules {
  /** Not available in phases without other tools. */
  readonly needsTools?: true
  /** Why each call waits for a person's decision, regardless of the policy. Standing approvals do not apply. */
  readonly approval?: string
}

/** `controlRules`: the rules of the control tools that these agents can have, by name. */
export function policyEngine(controlRules: (name: string) => ControlRules | undefined) {
  return { denial, liftedBy, rightTo, refusedByPolicy, needsApproval }

  /** Why a tool may not be called now, or null. */
  function denial(state: Caller, tool: ToolSpec): Failure | null {
    const refused = refusedByPolicy(state, tool)
    return refused === null || liftedBy(state, tool, refused) !== undefined ? null : refused
  }

  /** The permission that lifts this refusal; undefined: none. */
  function liftedBy(state: Caller, tool: ToolSpec, refused: Failure): Permission | undefined {
    return mayLift(state, tool, refused) ? permissionFor(state.permissions, tool.name) : undefined
  }

  function rightTo(state: Caller, tool: ToolSpec): Right {
    const refused = denial(state, tool)
    if (refused === null) return 'call'
    return mayLift(state, tool, refused) ? 'ask' : 'none'
  }

  /** Why the policy alone refuses a tool now, or null. Deny beats allow. An allowlist does not restrict control tools. */
  function refusedByPolicy(state: Caller, tool: ToolSpec): Failure | null {
    if (tool.control === 'completes') return null
    const { policy } = state.spec
    const denied = (rule: string, message: string): Failure => ({ code: 'PERMISSION_DENIED', rule, message })
    if (deniedByName(policy, tool)) return denied('denied', `${tool.name} is denied by the run's policy`)
    const inPhase = phaseTools(state)
    if (tool.control && controlRules(tool.name)?.needsTools && inPhase?.length === 0)
      return denied('phase', `${tool.name} is not available in phase "${state.phase}", which has no tools`)
    if (tool.control) return null
    if (!covers(policy.allowedTools, tool.name)) {
      return denied('not_allowed', `${tool.name} is not among the tools that the run's policy allows`)
    }
    if (inPhase !== null && !inPhase.some((pattern) => matches(pattern, tool.name))) {
      return denied(
        'phase',
        `${tool.name} is not available in phase "${state.phase}" (available: ${toolsOfPhase(state.spec, state.phase ?? '').join(', ') || 'none'}); use advance_phase to change phase`,
      )
    }
    return null
  }

  /**
   * Why a call needs the approval of a person, or of several, or null. A standing approval counts as the approval of one.
   */
  function needsApproval(state: Caller, { toolName, effect }: JudgedCall): string | null {
    const kind = controlKind(state, toolName)
    const own = kind === false ? undefined : controlRules(toolName)?.approval
    if (own !== undefined) return own
    const approvers = approversOf(state, { toolName, effect })
    if (approvers !== null) return `${approvers} people must approve ${toolName}`
    if (kind === 'completes' || covers(state.standing ?? [], toolName)) return null
    return asksByPolicy(state, toolName)
  }
}

export type PolicyEngine = ReturnType<typeof policyEngine>

/** Why the policy wants a person's approval of a call of this tool, or null. Ignores standing approvals. */
export function asksByPolicy(state: Caller, toolName: string): string | null {
  const { policy } = state.spec
  const isControl = controlKind(state, toolName) !== false
  const patterns = policy.requiresApproval.filter((pattern) => pattern !== '*' || !isControl)
  if (covers(patterns, toolName)) return `the policy asks for approval of ${toolName}`
  return asksInMode(policy.mode, toolName) ? `${toolName} needs approval in interactive mode` : null
}

/**
 * Whether a person may lift a refusal. A child's policy states what its parent may do, and a child has at most its
 * parent's rights (CONTRACTS 3), so only the refusals by its phase can be lifted. No person alone may lift the refusal of
 * a tool that several people must approve.
 */
const mayLift = (caller: Caller, { name, effect }: ToolSpec, { rule }: Failure): boolean =>
  approversOf(caller, { toolName: name, effect }) === null && (caller.parent === null || rule === 'phase')

/** Only their exact name denies control tools: `*` and prefixes do not cover them. */
function deniedByName(policy: Policy, tool: ToolSpec): boolean {
  return tool.control
    ? policy.deniedTools.some((pattern) => canonicalTool(pattern) === tool.name)
    : covers(policy.deniedTools, tool.name)
}
