import type { Change } from '../../engine/changes/change.ts'
import { actorText } from '../../engine/text.ts'
import { put, set } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

export function approvals(e: ProjectedEvent): Change[] {
  const key = { agent_id: e.agentId, tool_call_id: e.toolCallId ?? '' }
  const birth = { run_id: e.runId, turn: e.turn }
  switch (e.type) {
    case 'approval_requested':
      return [
        put('approvals', key, {
          ...birth,
          status: 'pending',
          tool_name: e.body?.toolName ?? null,
          arguments_hash: e.body?.argumentsHash ?? null,
          reason: e.body?.reason ?? null,
          expires_at: e.body?.expiresAt ?? null,
          requested_at: e.time,
          requested_revision: e.revision,
          requested_position: e.position,
          // A second request for the call: the earlier decision is in the events only.
          decided_at: null,
          decided_by: null,
          decided_claimed: null,
          decision_reason: null,
          decided_revision: null,
        }),
      ]
    case 'approval_decided':
      return [
        put(
          'approvals',
          key,
          {
            status: e.body?.decision ?? 'erased',
            decided_at: e.time,
            decided_by: actorText(e.actor),
            decided_claimed: e.actor.claimed ? 1 : 0,
            decision_reason: e.body?.reason ?? null,
            decided_revision: e.revision,
          },
          birth,
        ),
      ]
    case 'approval_expired':
      return [put('approvals', key, { status: 'expired', decided_at: e.time, decided_revision: e.revision }, birth)]
    case 'tool_call_end':
      return [set('approvals', key, { call_ended_at: e.time })]
    default:
      return []
  }
}

/** Changes of `standing_approvals`: tools that a person approved for the rest of the run. */
export function standingApprovals(e: ProjectedEvent): Change[] {
  if (e.type !== 'standing_approval') return []
  return [
    put(
      'standing_approvals',
      { agent_id: e.agentId, revision: e.revision },
      {
        run_id: e.runId,
        tools: e.body && JSON.stringify(e.body.tools),
        reason: e.body?.reason ?? null,
        by: actorText(e.actor),
        claimed: e.actor.claimed ? 1 : 0,
        at: e.time,
      },
    ),
  ]
}
