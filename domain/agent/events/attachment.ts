import type { Header } from '../../log/envelope.ts'
import { decode } from './codec.ts'
import type { AgentEvent, Attachment } from './events.ts'

/** Types of events that may refer to a whole result in the blob store. */
export const ATTACHING: ReadonlySet<string> = new Set<AgentEvent['type']>(['tool_call_end', 'late_outcome'])

/** The attachment of an event; undefined if the event contains its whole result. */
export const attachmentOf = (event: AgentEvent): Attachment | undefined =>
  event.type === 'tool_call_end' || event.type === 'late_outcome' ? event.body.attachment : undefined

/** The attachment of a stored event; undefined if it has none or its body cannot be decoded. */
export function attachmentIn(header: Header, body: Uint8Array | null | undefined): Attachment | undefined {
  if (body == null || !ATTACHING.has(header.type)) return undefined
  if (!Buffer.from(body.buffer, body.byteOffset, body.length).includes(MARK)) return undefined
  try {
    return attachmentOf(decode(header, body))
  } catch {
    return undefined
  }
}
const MARK = '"attachment":{'
