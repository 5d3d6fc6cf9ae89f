import { matches } from '../definition/tool-patterns.ts'
import type { BodyOf } from '../events/events.ts'
import type { Permission } from '../state/permissions.ts'
import { followsRecord } from '../state/reuse-rules.ts'
import type { AgentState } from '../state/state.ts'

// Permissions that an agent asked a person for (CONTRACTS 3). A permission lifts only the policy's refusal of a tool:
// by denial, by allowlist, or by phase. Approvals, recovery, the rules of turns and complete_task, budgets, limits, the
// workspace and the sandbox still apply.

/** The permission that lifts the policy's refusal of a tool; undefined: none. */
export const permissionFor = ({ permissions = [] }: AgentState, toolName: string): Permission | undefined =>
  permissions.find(({ tool }) => matches(tool, toolName))

/** The permissions that have ended at `now`, ms. While the run follows the record, the record determines expiry. */
export function endedPermissions(state: AgentState, now: number): BodyOf<'permission_ended'>[] {
  return (state.permissions ?? []).flatMap(({ id: permission, until, phase }): BodyOf<'permission_ended'>[] => {
    if (now >= until && !followsRecord(state)) return [{ permission, why: 'expired' }]
    return phase !== null && phase !== state.phase ? [{ permission, why: 'phase' }] : []
  })
}
