import type { QualityGate, RoleDefinition } from '../../tree/spec.ts'
import type { AgentState } from './state.ts'

// SOPExecutor: the phase of an agent, and the gates between phases (seed 000 section 7).

/** Identifies a gate. The same check may follow several phases. */
export const gateKey = (after: string, check: string): string => `${after}/${check}`

/** The first phase of a role. Without a role there is one phase with an empty name. */
export const initialPhase = (role: RoleDefinition | null): string => role?.phases[0]?.name ?? ''

/** The phase that an advance leads to, or why there is none. `to` absent: the next phase. */
export function targetPhase(state: AgentState, to: string | undefined): { phase: string } | { refusal: string } {
  const names = state.spec.role?.phases.map((phase) => phase.name) ?? []
  const here = names.indexOf(state.phase)
  if (to === undefined) {
    const next = names[here + 1]
    return next === undefined
      ? { refusal: `"${state.phase}" is the last phase; call complete_task when the work is done` }
      : { phase: next }
  }
  if (to === state.phase) return { refusal: `to: "${to}" is the current phase` }
  return names.includes(to) ? { phase: to } : { refusal: `to: "${to}" is no phase; phases are ${names.join(', ')}` }
}

/** The gates of every phase that a step forward leaves or skips; none for a step back. */
export function gatesOnTheWay(state: AgentState, to: string): readonly QualityGate[] {
  const { role } = state.spec
  if (role === null) return []
  const names = role.phases.map((phase) => phase.name)
  const [from, target] = [names.indexOf(state.phase), names.indexOf(to)]
  return role.qualityGates.filter((gate) => {
    const at = names.indexOf(gate.after)
    return at >= from && at < target
  })
}

/** The gates of the role that have not passed; completion checks them. */
export const openGates = (state: AgentState): readonly QualityGate[] =>
  state.spec.role?.qualityGates.filter((gate) => !state.gatesPassed.includes(gateKey(gate.after, gate.check))) ?? []
