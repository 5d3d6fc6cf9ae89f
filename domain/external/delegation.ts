import type { AgentSpec } from '../agent/definition/spec.ts'
import { asksInMode, covers } from '../agent/definition/tool-patterns.ts'
import type { Extensions } from './extensions.ts'

// Delegation to another agent: our policy cannot see what it does, so that a child's rights must become
// options of its backend beforehand, or the call is refused.

/** The rights of an agent that need no approval of each call. */
export interface Rights {
  /** Read files of its folder. */
  readonly read: boolean
  /** Change files of its folder. */
  readonly write: boolean
  readonly commands: boolean
  /** Reach files outside of its folder, and the network, with what it runs. */
  readonly outside: boolean
}

export const NO_RIGHTS: Rights = { read: false, write: false, commands: false, outside: false }
export const ALL_RIGHTS: Rights = { read: true, write: true, commands: true, outside: true }

/** One way to start a backend: what the agent may do then, and the extensions that say so. */
export interface RightsLevel {
  readonly grants: Rights
  readonly extensions: Extensions
}

const RIGHTS = ['read', 'write', 'commands', 'outside'] as const satisfies readonly (keyof Rights)[]

/** The rights that a child's spec gives in every phase without a person's approval of single calls. */
export function rightsOf({ policy, role }: Pick<AgentSpec, 'policy' | 'role'>): Rights {
  const asks = (tool: string) => covers(policy.requiresApproval, tool) || asksInMode(policy.mode, tool)
  // Another agent has no phases: what one of them takes away it could do all the time.
  const everywhere = (tool: string) => role === null || role.phases.every((phase) => covers(phase.allowedTools, tool))
  const may = (tool: string) =>
    covers(policy.allowedTools, tool) && !covers(policy.deniedTools, tool) && !asks(tool) && everywhere(tool)
  return { read: may('read_file'), write: may('write_file'), commands: may('run_command'), outside: !policy.sandboxed }
}

/**
 * The widest level that grants nothing beyond the rights; of equally wide ones the first. Null: every level grants more,
 * so that the call is refused. A level that grants nothing is none.
 */
export function levelFor(rights: Rights, levels: readonly RightsLevel[]): RightsLevel | null {
  const width = ({ grants }: RightsLevel) => RIGHTS.filter((right) => grants[right]).length
  const within = levels.filter(
    (level) => width(level) > 0 && RIGHTS.every((right) => rights[right] || !level.grants[right]),
  )
  return within.reduce<RightsLevel | null>(
    (best, one) => (best === null || width(one) > width(best) ? one : best),
    null,
  )
}
