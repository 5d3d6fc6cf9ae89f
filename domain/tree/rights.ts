import { approversIn } from '../calls/approvers.ts'
import { asksInMode, covers } from '../calls/tools/tool-patterns.ts'
import type { AgentSpec, Rights } from './spec.ts'

// Delegation to an external agent. keepup's policy cannot see the agent's actions, so the child's rights must become
// options of its backend. If no options fit the rights, the call is refused.

export const NO_RIGHTS: Rights = { read: false, write: false, commands: false, outside: false }
export const ALL_RIGHTS: Rights = { read: true, write: true, commands: true, outside: true }

const RIGHTS = ['read', 'write', 'commands', 'outside'] as const satisfies readonly (keyof Rights)[]

/** The effects of calls of these tools. */
const EFFECTS = { read_file: 'pure', write_file: 'reconcilable', run_command: 'irreversible' } as const
type Known = keyof typeof EFFECTS

/** An agent's policy and the phases of its role. `role` null: no phase narrows the policy. */
interface Holder {
  readonly policy: AgentSpec['policy']
  readonly role: { readonly phases: readonly { readonly allowedTools: readonly string[] }[] } | null
}

/** The rights that an agent has in at least one of its phases without approvals of single calls. */
export function rightsOf({ policy, role }: Holder): Rights {
  const asks = (tool: Known) =>
    covers(policy.requiresApproval, tool) ||
    asksInMode(policy.mode, tool) ||
    approversIn(policy, { toolName: tool, effect: EFFECTS[tool] }) !== null
  // Phases order the work of a role; a child passes through all of them. Most roles only think in their last phase, so
  // the intersection of all phases would allow nothing.
  const inSome = (tool: string) => role === null || role.phases.some((phase) => covers(phase.allowedTools, tool))
  const may = (tool: Known) =>
    covers(policy.allowedTools, tool) && !covers(policy.deniedTools, tool) && !asks(tool) && inSome(tool)
  return { read: may('read_file'), write: may('write_file'), commands: may('run_command'), outside: !policy.sandboxed }
}

/**
 * Whether several people must approve what an external agent asks for itself. `toolName`: the agent's own name for the
 * tool. The agent chooses the name, so a rule about files or commands counts for each of its questions.
 */
export const needsSeveral = (policy: Pick<AgentSpec['policy'], 'approvers'>, toolName?: string): boolean =>
  Object.entries({ ...EFFECTS, ...(toolName !== undefined && { [toolName]: 'irreversible' as const }) }).some(
    ([tool, effect]) => approversIn(policy, { toolName: tool, effect }) !== null,
  )

/** The intersection of two agents' rights. A child has no right that its parent lacks at the time of delegation. */
export const shared = (a: Rights, b: Rights): Rights => ({
  read: a.read && b.read,
  write: a.write && b.write,
  commands: a.commands && b.commands,
  outside: a.outside && b.outside,
})

/**
 * The widest level within the rights; among equally wide levels the first. Null: every level exceeds the rights, so the
 * call is refused. A level that grants nothing does not count.
 */
export function levelFor<L extends { readonly grants: Rights }>(rights: Rights, levels: readonly L[]): L | null {
  const width = ({ grants }: L) => RIGHTS.filter((right) => grants[right]).length
  const within = levels.filter(
    (level) => width(level) > 0 && RIGHTS.every((right) => rights[right] || !level.grants[right]),
  )
  return within.reduce<L | null>((best, one) => (best === null || width(one) > width(best) ? one : best), null)
}
