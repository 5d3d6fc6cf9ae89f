import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { ownerOf } from '../../../domain/log/owner.ts'
import { bodyHasher, isSealedBody } from '../../../domain/log/seal.ts'
import type { BlobStore } from '../../../domain/ports/index.ts'
import { yielder } from '../../../domain/stream/runtime/yield-to-event-loop.ts'

const utf8 = new TextDecoder()

/** The stored bytes of a body, from the log or the blob store; null where it was erased. Rejects with `BLOB_MISSING`. */
export async function bodyBytes(event: RecordedEvent, blobs: BlobStore): Promise<Uint8Array | null> {
  if (event.erased) return null
  if (event.body) return event.body
  return event.header.body.place === 'blob' ? blobs.get(ownerOf(event.header), event.header.body.hash) : null
}

/** A body as it may be shown. `altered`: the stored bytes are not the sealed ones, so no view shows them as true. */
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

/**
 * The stored bytes of a body that are what its header seals; null where it was erased or altered. Gives way to others while
 * it looks through a large one. Rejects with `BLOB_MISSING`.
 */
export async function soundBytes(event: RecordedEvent, blobs: BlobStore): Promise<Uint8Array | null> {
  const bytes = await bodyBytes(event, blobs)
  const { salt, size, hash } = event.header.body
  if (bytes?.length !== size) return null
  const hasher = bodyHasher(Buffer.from(salt, 'hex'))
  const yieldToEventLoop = yielder()
  for (let at = 0; at < size; at += PART) {
    hasher.update(bytes.subarray(at, at + PART))
    await yieldToEventLoop()
  }
  return hasher.hex() === hash ? bytes : null
}
const PART = 1024 * 1024
