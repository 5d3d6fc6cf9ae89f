import type { Header } from '../../log/envelope.ts'
import type { Attachment } from './event-parts.ts'

/**
 * Reads the attachment of a stored event; undefined if it has none or its body cannot be decoded. `types`: of events
 * that may refer to a whole result in the blob store.
 */
export function attachmentReader<Event>(
  types: ReadonlySet<string>,
  decode: (header: Header, body: Uint8Array) => Event,
  attachmentOf: (event: Event) => Attachment | undefined,
) {
  return (header: Header, body: Uint8Array | null | undefined): Attachment | undefined => {
    if (body == null || !types.has(header.type)) return undefined
    if (!Buffer.from(body.buffer, body.byteOffset, body.length).includes(MARK)) return undefined
    try {
      return attachmentOf(decode(header, body))
    } catch {
      return undefined
    }
  }
}
const MARK = '"attachment":{'
