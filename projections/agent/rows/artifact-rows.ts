import type { JsonObject } from '../../../domain/log/json.ts'
import type { Change } from '../../engine/changes/change.ts'
import { put } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

/** The content of one item in a call's `artifacts`; null when it is unknown. */
function contentOf(args: JsonObject | null | undefined, item: number): string | null {
  const items = args?.artifacts
  const found = Array.isArray(items) ? items[item] : null
  const content = found !== null && typeof found === 'object' && !Array.isArray(found) ? found?.content : null
  return typeof content === 'string' ? content : null
}

/**
 * Changes of `artifact_rows`, the table of ArtifactManager. The row shows the newest registration of an id. A
 * registration without a residue has no row.
 */
export function artifactRows(e: ProjectedEvent): Change[] {
  if (e.type !== 'artifact_registered' || !e.body) return []
  const { id, type, title, path, argumentsRef, hash, size, mimeType, claimed } = e.body.artifact
  return [
    put(
      'artifact_rows',
      { agent_id: e.agentId, artifact_id: id },
      {
        run_id: e.runId,
        tool_call_id: e.toolCallId ?? null,
        revision: e.revision,
        position: e.position,
        artifact_type: type,
        title: title ?? null,
        path: path ?? null,
        content: argumentsRef === undefined ? null : contentOf(e.arguments, argumentsRef.item),
        hash: hash ?? null,
        size: size ?? null,
        mime_type: mimeType ?? null,
        claimed: claimed ? 1 : 0,
        created_at: e.time,
      },
    ),
  ]
}
