import type { Change } from '../../engine/changes/change.ts'
import { put, set } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

/** Changes of `permissions`: permissions that people granted beyond an agent's policy, and the end of each. */
export function permissions(e: ProjectedEvent): Change[] {
  const key = (call: string) => ({ agent_id: e.agentId, tool_call_id: call })
  switch (e.type) {
    case 'permission_granted':
      return [
        put('permissions', key(e.toolCallId ?? ''), {
          run_id: e.runId,
          turn: e.turn,
          tool: e.body?.tool ?? null,
          scope: e.body?.scope ?? null,
          phase: e.body?.phase ?? null,
          until: e.body?.until ?? null,
          reason: e.body?.reason ?? null,
          granted_at: e.time,
          granted_revision: e.revision,
          ended_at: null,
          ended_by: null,
        }),
      ]
    case 'permission_ended':
      if (e.body === null) return []
      return [set('permissions', key(e.body.permission), { ended_at: e.time, ended_by: e.body.why })]
    case 'permission_revoked':
      if (e.body === null) return []
      return [set('permissions', key(e.body.permission), { ended_at: e.time, ended_by: 'revoked' })]
    default:
      return []
  }
}
