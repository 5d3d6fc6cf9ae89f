import type { AgentSpec, QualityGate, RoleDefinition } from '../definition/spec.ts'
import { matches } from '../definition/tool-patterns.ts'
import type { AgentState } from './state.ts'

// SOPExecutor: which phase an agent is in, and which gates stand between phases (seed 000 section 7).

/** A gate stands at its place: one check may stand after several phases. */
export const gateKey = (after: string, check: string): string => `${after}/${check}`

/** The first phase of a role; no role has one phase without a name. */
export const initialPhase = (role: RoleDefinition | null): string => role?.phases[0]?.name ?? ''

/** Tools of the current phase; null: no role narrows them. An empty list means the model only. */
export function phaseTools(state: AgentState): readonly string[] | null {
  const { role } = state.spec
  return role === null ? null : (role.phases.find((phase) => phase.name === state.phase)?.allowedTools ?? [])
}

/** The tools of a phase that the run has, as its role names them: a tool that the deployment lacks is left out. */
export const toolsOfPhase = ({ role, tools }: Pick<AgentSpec, 'role' | 'tools'>, phase: string): readonly string[] =>
  (role?.phases.find(({ name }) => name === phase)?.allowedTools ?? []).filter((pattern) =>
    tools.some((tool) => !tool.control && matches(pattern, tool.name)),
  )

/** The phase that an advance leads to, or why there is none. `to` absent: the next one. */
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

/** Gates of every phase that a step forward leaves or jumps over; none for a step back. */
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

/** Gates that completion must still check: all of the role that have not passed. */
export const openGates = (state: AgentState): readonly QualityGate[] =>
  state.spec.role?.qualityGates.filter((gate) => !state.gatesPassed.includes(gateKey(gate.after, gate.check))) ?? []
