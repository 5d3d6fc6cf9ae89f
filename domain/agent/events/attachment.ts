import type { AgentEvent, Attachment } from './events.ts'

/** Types of events that may name a whole result in the blob store. */
export const ATTACHING: ReadonlySet<string> = new Set<AgentEvent['type']>(['tool_call_end', 'late_outcome'])

/** The whole result that an event names; undefined where its result is whole in the event. */
export const attachmentOf = (event: AgentEvent): Attachment | undefined =>
  event.type === 'tool_call_end' || event.type === 'late_outcome' ? event.body.attachment : undefined
