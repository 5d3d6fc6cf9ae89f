import type { Policy } from '../../calls/policy-schema.ts'
import { matches } from '../../calls/tools/tool-patterns.ts'
import type { Effect } from '../../calls/tools/tool-spec.ts'
import { toolNamed } from '../../calls/tools/tools.ts'
import type { RoleDefinition } from '../../tree/spec.ts'
import { type AgentState, callsOf } from '../state/state.ts'
import { KNOWN_NAMES } from './admission.ts'
import { liftedBy, needsApproval, refusedByPolicy } from './policy.ts'

// Judges a recorded call as if another policy or role had been in force.

/** A recorded call. `permission`: the permission that lifted the policy's refusal. */
interface CheckedCall {
  readonly toolName: string
  /** Absent: the effect of the tool. */
  readonly effect?: Effect
  readonly permission?: string | undefined
}

/** The rules to apply. An absent member stays as in the run; `role` null: no role. */
export interface OtherRules {
  readonly policy?: Policy
  readonly role?: RoleDefinition | null
}

/**
 * The verdict of other rules on a call. `code` and `rule`: those of the failed call; null for `ask`. `permit`: the
 * rules refuse the call, but a person's permission allows it.
 */
export interface PolicyVerdict {
  readonly would: 'refuse' | 'ask' | 'permit'
  readonly code: string | null
  readonly rule: string | null
  readonly reason: string
}

/**
 * The verdict of other rules on a call that the agent makes in this state; null: the call would run. Standing approvals
 * and permissions still count. With another role, the phase of the same name applies; if the role lacks it, the call is
 * refused only if every phase refuses it.
 */
export function verdictOn(state: AgentState, call: CheckedCall, other: OtherRules): PolicyVerdict | null {
  const tool = toolNamed(state.spec.tools, call.toolName)
  if (tool === undefined) return null
  const spec = { ...state.spec, ...other }
  const phases = phasesOf(state, spec.role)
  const judged = phases.map((phase) => refusedByPolicy({ ...state, spec, phase }, tool))
  const refused = judged.every((one) => one !== null) ? judged[0] : null
  const permission = call.permission ?? (refused ? liftedBy(state, tool, refused)?.id : undefined)
  if (refused && permission === undefined)
    return { would: 'refuse', code: refused.code, rule: refused.rule ?? null, reason: refused.message }
  if (spec.policy.mode === 'interactive' && callsOf(state).length > 1) {
    const reason = 'Single-Step Constraint Violation: interactive mode allows one tool call per turn'
    return { would: 'refuse', code: 'SINGLE_STEP_VIOLATION', rule: null, reason }
  }
  const reason = needsApproval({ ...state, spec }, { toolName: tool.name, effect: call.effect ?? tool.effect })
  if (reason !== null) return { would: 'ask', code: null, rule: null, reason }
  if (!refused) return null
  const why = `${refused.message}; a person has permitted it: ${permission}`
  return { would: 'permit', code: refused.code, rule: refused.rule ?? null, reason: why }
}

/** Names in a policy that match none of these tools and no tool of keepup; they are probably misspelled. */
export function namesNoTool(policy: Policy, tools: Iterable<string>): string[] {
  const { allowedTools, deniedTools, requiresApproval, approvers = [] } = policy
  const known = [...KNOWN_NAMES, ...tools]
  const named = new Set([
    ...allowedTools,
    ...deniedTools,
    ...requiresApproval,
    ...approvers.flatMap(({ tools }) => tools),
  ])
  return [...named].filter((pattern) => !known.some((name) => matches(pattern, name)))
}

function phasesOf({ phase }: AgentState, role: RoleDefinition | null): readonly string[] {
  const names = role?.phases.map(({ name }) => name) ?? []
  return names.length === 0 || names.includes(phase) ? [phase] : names
}
