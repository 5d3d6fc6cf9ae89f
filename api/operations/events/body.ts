import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { ownerOf } from '../../../domain/log/owner.ts'
import { bodyHasher, isSealedBody } from '../../../domain/log/seal.ts'
import type { BlobStore } from '../../../domain/ports/index.ts'
import { yielder } from '../../../domain/stream/runtime/yield-to-event-loop.ts'

const utf8 = new TextDecoder()

/** The stored bytes of a body, from the log or the blob store. Null: erased. Rejects with `BLOB_MISSING`. */
export async function bodyBytes(event: RecordedEvent, blobs: BlobStore): Promise<Uint8Array | null> {
  if (event.erased) return null
  if (event.body) return event.body
  return event.header.body.place === 'blob' ? blobs.get(ownerOf(event.header), event.header.body.hash) : null
}

/** A body for views. `altered`: the stored bytes do not match the sealed hash, so views must not show them. */
export interface ShownBody {
  readonly altered: boolean
  /** Null: erased, altered, or encrypted. */
  readonly json: JsonObject | null
}

/** Parses a body after a check against the sealed hash in its header. Rejects with `BLOB_MISSING`. */
export async function shownBody(event: RecordedEvent, blobs: BlobStore): Promise<ShownBody> {
  const bytes = await bodyBytes(event, blobs)
  if (bytes === null) return { altered: !event.erased, json: null }
  if (!isSealedBody(event.header.body, bytes)) return { altered: true, json: null }
  const json = event.header.body.cipher ? null : (JSON.parse(utf8.decode(bytes)) as JsonObject)
  return { altered: false, json }
}

/**
 * The stored bytes of a body, if they match the sealed hash. Null: erased or altered. Yields to the event loop while it
 * hashes a large body. Rejects with `BLOB_MISSING`.
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
