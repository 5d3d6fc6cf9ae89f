import { byteLength } from '../../calls/truncate.ts'
import type { AgentEvent, EventOf } from '../events/events.ts'
import type { Reuse } from './reuse.ts'
import type { AgentState } from './state.ts'

/** Whether the agent still copies outcomes from the record. */
export const followsRecord = ({ reuse }: AgentState): boolean => reuse != null && reuse.left === null

/**
 * Size of a call's end without its `reused` member, in bytes, so that the context of a fork fills as its source's did.
 */
export const sizeInRecord = ({ size, body: { reused } }: EventOf<'tool_call_end'>): number =>
  reused === undefined ? size : size + 1 - byteLength(JSON.stringify({ reused }))

export function reuseAfter({ reuse = null }: AgentState, event: AgentEvent): Reuse | null {
  if (reuse === null) return null
  switch (event.type) {
    case 'model_call_end':
    case 'error': {
      if (event.body.reused === undefined) return reuse
      const { stream, revision } = event.body.reused
      return { ...reuse, after: { stream, revision }, models: reuse.models + 1 }
    }
    case 'tool_call_end':
    case 'tool_call_unknown':
      return event.body.reused === undefined ? reuse : { ...reuse, tools: reuse.tools + 1 }
    case 'reuse_ended':
      return { ...reuse, left: event.revision }
    default:
      return reuse
  }
}
