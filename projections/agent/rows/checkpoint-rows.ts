import type { Change } from '../../engine/changes/change.ts'
import { put } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

/** Changes of `checkpoint_rows`. Every tool outcome and turn end is a checkpoint. */
export function checkpointRows(e: ProjectedEvent): Change[] {
  if (e.type !== 'tool_call_end' && e.type !== 'turn_end') return []
  return [
    put(
      'checkpoint_rows',
      { agent_id: e.agentId, revision: e.revision },
      {
        step: e.body?.step ?? null,
        run_id: e.runId,
        turn: e.turn,
        position: e.position,
        timestamp: e.time,
        tool_call_id: e.toolCallId ?? null,
        digest: e.digest?.value ?? null,
        fold: e.digest?.fold ?? null,
      },
    ),
  ]
}
