import { policyEngine } from '../../calls/policy-engine.ts'
import type { ToolSpec } from '../../calls/tools/tool-spec.ts'
import { controlToolNamed } from '../control/registry.ts'
import { type AgentState, recoveryOf } from '../state/state.ts'

export const agentPolicy = policyEngine(controlToolNamed)
export const { denial, liftedBy, rightTo, refusedByPolicy, needsApproval } = agentPolicy

/** The tools offered to the model now; in recovery only the tool that completes the run. */
export function offeredTools(state: AgentState): readonly ToolSpec[] {
  if (recoveryOf(state.machine) !== null) return state.spec.tools.filter(({ control }) => control === 'completes')
  return state.spec.tools.filter((tool) => denial(state, tool) === null)
}
