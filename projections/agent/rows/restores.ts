import type { Change } from '../../engine/changes/change.ts'
import { actorText } from '../../engine/text.ts'
import { put, set } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

/** Changes of `restores`: who restored the files of which version, and with which outcome. */
export function restores(e: ProjectedEvent): Change[] {
  if (e.type === 'restore_requested')
    return [
      put(
        'restores',
        { agent_id: e.agentId, revision: e.revision },
        {
          run_id: e.runId,
          step: e.body?.step ?? null,
          tree: e.body?.tree ?? null,
          replaces: e.body?.replaces ?? null,
          by: actorText(e.actor),
          claimed: e.actor.claimed ? 1 : 0,
          reason: e.body?.reason ?? null,
          requested_at: e.time,
        },
      ),
    ]
  if (e.type !== 'restore_ended' || !e.body) return []
  const { restore, outcome, error } = e.body
  const ended = { outcome, code: error?.code ?? null, message: error?.message ?? null, ended_at: e.time }
  return [set('restores', { agent_id: e.agentId, revision: restore }, ended)]
}
