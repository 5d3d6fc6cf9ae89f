import { toolCallId } from '../../../domain/log/ids.ts'
import { cut } from '../../text.ts'
import { type Change, put } from '../change.ts'
import type { ProjectedEvent } from './event.ts'

/** A path as the table holds it: an index takes no text of any length. */
export const pathCell = (path: string): string => cut(path, 500)

/** Changes of `touched_files`: what a call names when it is requested, and what it has changed when it ends. */
export function touchedFiles(e: ProjectedEvent): Change[] {
  const row = (call: string, use: 'read' | 'write') => (path: string) =>
    put('touched_files', { agent_id: e.agentId, path: pathCell(path), tool_call_id: call, use }, { run_id: e.runId })
  if (e.type === 'model_call_end') {
    return (e.body?.calls ?? []).flatMap(({ reads, writes }, index) => {
      const call = toolCallId(e.agentId, e.turn, index)
      return [...reads.map(row(call, 'read')), ...writes.map(row(call, 'write'))]
    })
  }
  if (e.type !== 'tool_call_end' || e.toolCallId === undefined) return []
  return [...(e.body?.created ?? []), ...(e.body?.changed ?? [])].map(row(e.toolCallId, 'write'))
}
