import type { RecordedEvent } from '../../domain/log/envelope.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import type { BlobStore } from '../../domain/ports.ts'

const utf8 = new TextDecoder()

/** The stored bytes of a body, from the log or the blob store; null where it was erased. Rejects with `BLOB_MISSING`. */
export async function bodyBytes(event: RecordedEvent, blobs: BlobStore): Promise<Uint8Array | null> {
  if (event.erased) return null
  if (event.body) return event.body
  return event.header.body.place === 'blob' ? blobs.get(event.header.runId, event.header.body.hash) : null
}

/** The body as JSON; null where it was erased or is enciphered. */
export async function bodyJson(event: RecordedEvent, blobs: BlobStore): Promise<JsonObject | null> {
  if (event.header.body.cipher) return null
  const bytes = await bodyBytes(event, blobs)
  return bytes && (JSON.parse(utf8.decode(bytes)) as JsonObject)
}
