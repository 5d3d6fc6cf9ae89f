import { matches } from '../definition/tool-patterns.ts'
import type { BodyOf } from '../events/events.ts'
import type { Permission } from '../state/permissions.ts'
import { followsRecord } from '../state/reuse-rules.ts'
import type { AgentState } from '../state/state.ts'

// Permissions that an agent has asked a person for (CONTRACTS 3). One lifts the policy's refusal of a tool: by denial, by
// allowlist, or by phase. It lifts nothing else: calls still ask for approval where they must, and recovery, the rules of
// complete_task and of turns, budgets, limits, the workspace and the sandbox hold as before.

/** The permission that lets the tool be called although its policy refuses it; undefined: there is none. */
export const permissionFor = ({ permissions = [] }: AgentState, toolName: string): Permission | undefined =>
  permissions.find(({ tool }) => matches(tool, toolName))

/** The permissions whose scope has ended by this instant, ms. What is taken from a record was decided by its own clock. */
export function endedPermissions(state: AgentState, now: number): BodyOf<'permission_ended'>[] {
  return (state.permissions ?? []).flatMap(({ id: permission, until, phase }): BodyOf<'permission_ended'>[] => {
    if (now >= until && !followsRecord(state)) return [{ permission, why: 'expired' }]
    return phase !== null && phase !== state.phase ? [{ permission, why: 'phase' }] : []
  })
}
