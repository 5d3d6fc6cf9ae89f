import { ERASED } from '../../../domain/calls/events/residue.ts'
import type { Change } from '../../engine/changes/change.ts'
import { actorText, cut } from '../../engine/text.ts'
import { put } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

/** Changes of `inputs`. `preview`: the first 500 characters. */
export function inputs(e: ProjectedEvent): Change[] {
  if (e.type !== 'user_input') return []
  return [
    put(
      'inputs',
      { agent_id: e.agentId, revision: e.revision },
      {
        run_id: e.runId,
        preview: e.body ? cut(e.body.text, 500) : ERASED,
        by: actorText(e.actor),
        at: e.time,
        erased: e.erased ? 1 : 0,
      },
    ),
  ]
}
