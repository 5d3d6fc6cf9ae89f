import type { Effect } from '../../calls/tools/tool-spec.ts'
import type { Risk } from '../../tree/routing-config.ts'
import { offeredTools } from '../rules/policy.ts'
import { type AgentState, recoveryOf } from '../state/state.ts'

const RISK_OF: Readonly<Record<Effect, Risk>> = {
  pure: 'low',
  idempotent: 'medium',
  reconcilable: 'medium',
  irreversible: 'high',
}

const known = new WeakMap<object, Map<string, Risk>>()

/** The highest risk of the currently offered tools. Cached per spec, phase and recovery. */
export function riskOf(state: AgentState): Risk {
  const ofSpec = known.get(state.spec) ?? new Map<string, Risk>()
  known.set(state.spec, ofSpec)
  const key = `${state.phase}|${recoveryOf(state.machine) !== null}`
  const risk = ofSpec.get(key) ?? highest(state)
  ofSpec.set(key, risk)
  return risk
}

function highest(state: AgentState): Risk {
  const risks = offeredTools(state).flatMap(({ control, effect }) => (control === false ? [RISK_OF[effect]] : []))
  return risks.includes('high') ? 'high' : risks.includes('medium') ? 'medium' : 'low'
}
