import { type Change, put } from './change.ts'
import type { Seen } from './event.ts'

/** Changes of `artifact_rows`. Registering the same id again shows the newest; an erased one is in the events only. */
export function artifactRows(e: Seen): Change[] {
  if (e.type !== 'artifact_registered' || !e.body) return []
  const { id, type, title, path, content, hash, size, mimeType, claimed } = e.body.artifact
  return [
    put(
      'artifact_rows',
      { agent_id: e.agentId, artifact_id: id },
      {
        run_id: e.runId,
        tool_call_id: e.toolCallId ?? null,
        revision: e.revision,
        artifact_type: type,
        title: title ?? null,
        path: path ?? null,
        content: content ?? null,
        hash: hash ?? null,
        size: size ?? null,
        mime_type: mimeType ?? null,
        claimed: claimed ? 1 : 0,
        created_at: e.time,
      },
    ),
  ]
}
