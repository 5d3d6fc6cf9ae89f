import type { BodyOf } from '../events/events.ts'
import { followsRecord } from '../state/reuse-rules.ts'
import type { AgentState } from '../state/state.ts'

/** The permissions that have ended at `now`, ms. While the run follows the record, the record determines expiry. */
export function endedPermissions(state: AgentState, now: number): BodyOf<'permission_ended'>[] {
  return (state.permissions ?? []).flatMap(({ id: permission, until, phase }): BodyOf<'permission_ended'>[] => {
    if (now >= until && !followsRecord(state)) return [{ permission, why: 'expired' }]
    return phase !== null && phase !== state.phase ? [{ permission, why: 'phase' }] : []
  })
}
