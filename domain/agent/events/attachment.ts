import { attachmentReader } from '../../calls/events/attachment.ts'
import type { Attachment } from '../../calls/events/event-parts.ts'
import { decode } from './codec.ts'
import type { AgentEvent } from './events.ts'

/** Types of events that may refer to a whole result in the blob store. */
export const ATTACHING: ReadonlySet<string> = new Set<AgentEvent['type']>(['tool_call_end', 'late_outcome'])

/** The attachment of an event; undefined if the event contains its whole result. */
export const attachmentOf = (event: AgentEvent): Attachment | undefined =>
  event.type === 'tool_call_end' || event.type === 'late_outcome' ? event.body.attachment : undefined

/** The attachment of a stored event; undefined if it has none or its body cannot be decoded. */
export const attachmentIn = attachmentReader(ATTACHING, decode, attachmentOf)
