import type { Policy, RoleDefinition } from '../definition/spec.ts'
import { matches } from '../definition/tool-patterns.ts'
import { toolNamed } from '../definition/tools.ts'
import { type AgentState, callsOf } from '../state/state.ts'
import { KNOWN_NAMES } from './admission.ts'
import { liftedBy, needsApproval, refusedByPolicy } from './policy.ts'

// Another policy or role applied to a recorded call: what it would have said, had it been in force.

/** A recorded call. `permission`: what lifted the policy's refusal of it then. */
export interface CheckedCall {
  readonly toolName: string
  readonly permission?: string | undefined
}

/** The rules in force instead. A member that is absent stays as the run has it; `role` null: none. */
export interface OtherRules {
  readonly policy?: Policy
  readonly role?: RoleDefinition | null
}

/**
 * The verdict of other rules on a call. `code` and `rule`: as the failed call would have had them; null where it is asked.
 * `permit`: they refuse it, and a person's permission lets it run all the same.
 */
export interface PolicyVerdict {
  readonly would: 'refuse' | 'ask' | 'permit'
  readonly code: string | null
  readonly rule: string | null
  readonly reason: string
}

/**
 * The verdict of the rules on a call that the agent makes in this state; null: they would let it run. What people have
 * approved beforehand or permitted still counts. Of another role the phase of the same name counts, or, where it has none, any phase.
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
  const reason = needsApproval({ ...state, spec }, tool.name)
  if (reason !== null) return { would: 'ask', code: null, rule: null, reason }
  if (!refused) return null
  const why = `${refused.message}; a person has permitted it: ${permission}`
  return { would: 'permit', code: refused.code, rule: refused.rule ?? null, reason: why }
}

/** The names in a policy that fit no tool of these, and none that keepup brings: a slip of the pen would find nothing. */
export function namesNoTool(policy: Policy, tools: Iterable<string>): string[] {
  const { allowedTools, deniedTools, requiresApproval } = policy
  const known = [...KNOWN_NAMES, ...tools]
  const named = new Set([...allowedTools, ...deniedTools, ...requiresApproval])
  return [...named].filter((pattern) => !known.some((name) => matches(pattern, name)))
}

function phasesOf({ phase }: AgentState, role: RoleDefinition | null): readonly string[] {
  const names = role?.phases.map(({ name }) => name) ?? []
  return names.length === 0 || names.includes(phase) ? [phase] : names
}
