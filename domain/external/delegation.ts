import type { AgentSpec, Rights } from '../agent/definition/spec.ts'
import { asksInMode, covers } from '../agent/definition/tool-patterns.ts'
import type { Extensions } from './extensions.ts'

// Delegation to another agent: our policy cannot see what it does, so that a child's rights must become
// options of its backend beforehand, or the call is refused.

export type { Rights }

export const NO_RIGHTS: Rights = { read: false, write: false, commands: false, outside: false }
export const ALL_RIGHTS: Rights = { read: true, write: true, commands: true, outside: true }

/**
 * One way to start a backend: what the agent may do then, and the extensions that say so. Where `commands` is not granted,
 * nothing in the folder may start a program either: hooks, servers and plugins of a folder are commands.
 */
export interface RightsLevel {
  readonly grants: Rights
  readonly extensions: Extensions
}

const RIGHTS = ['read', 'write', 'commands', 'outside'] as const satisfies readonly (keyof Rights)[]

/** An agent's policy, and the phases that it may come to; null: nothing narrows them. */
interface Holder {
  readonly policy: AgentSpec['policy']
  readonly role: { readonly phases: readonly { readonly allowedTools: readonly string[] }[] } | null
}

/** The rights that an agent has in some of these phases without a person's approval of single calls. */
export function rightsOf({ policy, role }: Holder): Rights {
  const asks = (tool: string) => covers(policy.requiresApproval, tool) || asksInMode(policy.mode, tool)
  // Phases order the work of a role and withhold nothing for good: a child comes to each of them by itself. Most roles think
  // in their last one, so that what every phase allows would be nothing.
  const inSome = (tool: string) => role === null || role.phases.some((phase) => covers(phase.allowedTools, tool))
  const may = (tool: string) =>
    covers(policy.allowedTools, tool) && !covers(policy.deniedTools, tool) && !asks(tool) && inSome(tool)
  return { read: may('read_file'), write: may('write_file'), commands: may('run_command'), outside: !policy.sandboxed }
}

/** The rights that both have: a child has none that its parent lacks when it delegates. */
export const shared = (a: Rights, b: Rights): Rights => ({
  read: a.read && b.read,
  write: a.write && b.write,
  commands: a.commands && b.commands,
  outside: a.outside && b.outside,
})

/**
 * The widest level that grants nothing beyond the rights; of equally wide ones the first. Null: every level grants more,
 * so that the call is refused. A level that grants nothing is none.
 */
export function levelFor<L extends Pick<RightsLevel, 'grants'>>(rights: Rights, levels: readonly L[]): L | null {
  const width = ({ grants }: L) => RIGHTS.filter((right) => grants[right]).length
  const within = levels.filter(
    (level) => width(level) > 0 && RIGHTS.every((right) => rights[right] || !level.grants[right]),
  )
  return within.reduce<L | null>((best, one) => (best === null || width(one) > width(best) ? one : best), null)
}
