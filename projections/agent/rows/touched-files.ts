import { toolCallId } from '../../../domain/log/ids.ts'
import type { Change } from '../../engine/changes/change.ts'
import { cut } from '../../engine/text.ts'
import { put } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

/** Truncates a path for its column, because an index takes only text of limited length. */
export const pathCell = (path: string): string => cut(path, 500)

/** Changes of `touched_files`: files that a call names at its request, and files that it has changed at its end. */
export function touchedFiles(e: ProjectedEvent): Change[] {
  if (e.type === 'model_call_end')
    return (e.body?.calls ?? []).flatMap((call, index) => namedFiles(e, toolCallId(e.agentId, e.turn, index), call))
  if (e.type !== 'tool_call_end' || e.toolCallId === undefined) return []
  return namedFiles(e, e.toolCallId, { reads: [], writes: [...(e.body?.created ?? []), ...(e.body?.changed ?? [])] })
}

export function namedFiles(
  { agentId, runId }: { readonly agentId: string; readonly runId: string },
  call: string,
  { reads, writes }: { readonly reads: readonly string[]; readonly writes: readonly string[] },
): Change[] {
  const row = (use: 'read' | 'write') => (path: string) =>
    put('touched_files', { agent_id: agentId, path: pathCell(path), tool_call_id: call, use }, { run_id: runId })
  return [...reads.map(row('read')), ...writes.map(row('write'))]
}
