import { reportedEdits } from '../../domain/external/reported-edits.ts'
import { namedFiles } from '../agent/rows/touched-files.ts'
import type { Change } from '../engine/changes/change.ts'
import { cut } from '../engine/text.ts'
import type { ProjectedExternal } from './event.ts'

/** The id of a reported call that has none. */
const NO_ID = 'reported'
/** The most characters of an id, because an index takes only text of limited length. */
const ID_LENGTH = 200

/**
 * Changes of `touched_files` by an agent's reports: the files that a call is to change, also if it fails later, and those in
 * the patch of its result. The rows have the id that the agent gave the call, and no row of `tool_calls`.
 */
export function reportedFiles(e: Extract<ProjectedExternal, { type: 'agent_events' }>): Change[] {
  return (e.body?.events ?? []).flatMap(({ kind, data }) => {
    if (kind !== 'ToolCall' && kind !== 'ToolResult') return []
    const { id, input, patch } = (data ?? {}) as { readonly [name: string]: unknown }
    const edits = kind === 'ToolCall' ? reportedEdits(input, null) : reportedEdits(null, { patch })
    const writes = [...new Set(edits.map(({ path }) => path))]
    return namedFiles(e, typeof id === 'string' && id !== '' ? cut(id, ID_LENGTH) : NO_ID, { reads: [], writes })
  })
}
