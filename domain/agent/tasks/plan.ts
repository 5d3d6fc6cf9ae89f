import { CUT_AT } from '../../calls/answer-bounds.ts'
import type { Failure, PlannedCall, ResolvedPaths } from '../../calls/events/event-parts.ts'
import type { Cut } from '../../calls/model-call.ts'
import { planCalls as plan } from '../../calls/plan-calls.ts'
import type { RequestedCall } from '../../calls/requested-calls.ts'
import type { ToolSpec } from '../../calls/tools/tool-spec.ts'
import { CONTROL_TOOLS, controlToolNamed } from '../control/registry.ts'
import { agentPolicy } from '../rules/policy.ts'
import { TOO_MANY_CALLS } from '../state/failures.ts'
import { type AgentState, recoveryOf } from '../state/state.ts'

/** The place where an answer was cut off: at one of our bounds, or at the provider's output limit. */
export type CutOff = Cut | 'limit'

/**
 * Judges the calls of one answer, in order. `cut`: the answer was cut off, so no call may run; null: it is complete.
 */
export function planAgentCalls(
  state: AgentState,
  calls: readonly RequestedCall[],
  paths: readonly ResolvedPaths[],
  cut: CutOff | null,
): PlannedCall[] {
  return plan(state, calls, paths, {
    policy: agentPolicy,
    wholeTurn: (all, tool) => failureOfTurn(state, all, tool, cut),
    control(name) {
      const control = controlToolNamed(name)
      if (control === undefined) return undefined
      const { schema } = control
      return {
        schema,
        refusal: (input) => control.refusal?.(state, input, (tool) => agentPolicy.rightTo(state, tool)) ?? null,
      }
    },
  })
}

function failureOfTurn(
  state: AgentState,
  calls: readonly RequestedCall[],
  tool: ToolSpec | undefined,
  cut: CutOff | null,
): Failure | null {
  if (recoveryOf(state.machine) !== null && tool?.control !== 'completes') {
    const completing = state.spec.tools.find(({ control }) => control === 'completes')
    return {
      code: 'PERMISSION_DENIED',
      rule: 'recovery',
      message: `after the final warning only ${completing?.name} may be called`,
    }
  }
  if (cut !== null) {
    const where = cut === 'limit' ? 'at the output limit' : CUT_AT[cut]
    return {
      code: 'INVALID_ARGUMENTS',
      rule: cut === 'calls' ? TOO_MANY_CALLS : 'cut_off',
      message: `the answer was cut off ${where}, so none of its calls ran; answer again, shorter`,
    }
  }
  if (calls.length <= 1) return null
  const single = CONTROL_TOOLS.find(({ alone, spec }) => alone && calls.some(({ name }) => name === spec.name))
  if (single?.alone !== undefined) {
    const message = `${single.spec.name} must be the only call of its turn; nothing of this turn ran`
    return { code: single.alone, message }
  }
  if (state.spec.policy.mode === 'interactive') {
    return {
      code: 'SINGLE_STEP_VIOLATION',
      message:
        'Single-Step Constraint Violation: interactive mode allows one tool call per turn; nothing of this turn ran',
    }
  }
  return null
}
