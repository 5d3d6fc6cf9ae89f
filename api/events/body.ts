import type { RecordedEvent } from '../../domain/log/envelope.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import { isSealedBody } from '../../domain/log/seal.ts'
import type { BlobStore } from '../../domain/ports.ts'

const utf8 = new TextDecoder()

/** The stored bytes of a body, from the log or the blob store; null where it was erased. Rejects with `BLOB_MISSING`. */
export async function bodyBytes(event: RecordedEvent, blobs: BlobStore): Promise<Uint8Array | null> {
  if (event.erased) return null
  if (event.body) return event.body
  return event.header.body.place === 'blob' ? blobs.get(event.header.runId, event.header.body.hash) : null
}

/** A body as it may be shown. `altered`: what is stored is not what was sealed, so it is shown to nobody as true. */
export interface ShownBody {
  readonly altered: boolean
  /** Null where it was erased, altered, or is enciphered. */
  readonly json: JsonObject | null
}

/** The body as JSON, held against the hash that its header seals. Rejects with `BLOB_MISSING`. */
export async function shownBody(event: RecordedEvent, blobs: BlobStore): Promise<ShownBody> {
  const bytes = await bodyBytes(event, blobs)
  if (bytes === null) return { altered: !event.erased, json: null }
  if (!isSealedBody(event.header.body, bytes)) return { altered: true, json: null }
  const json = event.header.body.cipher ? null : (JSON.parse(utf8.decode(bytes)) as JsonObject)
  return { altered: false, json }
}
