import type { AgentSpec } from '../../tree/spec.ts'
import { matches } from './tool-patterns.ts'

/** `phase`: absent where the agent has no role. */
interface InPhase {
  readonly spec: Pick<AgentSpec, 'role'>
  readonly phase?: string
}

/** Tools of the current phase; null: no role restricts them; empty: no tools. */
export function phaseTools({ spec: { role }, phase }: InPhase): readonly string[] | null {
  return role === null ? null : (role.phases.find(({ name }) => name === phase)?.allowedTools ?? [])
}

/** The tools of a phase, as its role names them, without tools that the deployment lacks. */
export const toolsOfPhase = ({ role, tools }: Pick<AgentSpec, 'role' | 'tools'>, phase: string): readonly string[] =>
  (role?.phases.find(({ name }) => name === phase)?.allowedTools ?? []).filter((pattern) =>
    tools.some((tool) => !tool.control && matches(pattern, tool.name)),
  )
