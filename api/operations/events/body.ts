import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { ownerOf } from '../../../domain/log/owner.ts'
import { bodyHasher, SALT_BYTES, sealedBody, unsalted } from '../../../domain/log/seal.ts'
import type { BlobStore } from '../../../domain/ports/index.ts'
import { yielder } from '../../../domain/stream/runtime/yield-to-event-loop.ts'

const utf8 = new TextDecoder()

/** The stored bytes of a body with its salt, from the log or the blob store. Null: erased. Rejects with `BLOB_MISSING`. */
export async function storedBytes(event: RecordedEvent, blobs: BlobStore): Promise<Uint8Array | null> {
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
  const stored = await storedBytes(event, blobs)
  if (stored === null) return { altered: !event.erased, json: null }
  const body = sealedBody(event.header.body, stored)
  if (body === null) return { altered: true, json: null }
  const json = event.header.body.cipher ? null : (JSON.parse(utf8.decode(body)) as JsonObject)
  return { altered: false, json }
}

/**
 * The bytes of a body without its salt, if they match the sealed hash. Null: erased or altered. Yields to the event loop while it
 * hashes a large body. Rejects with `BLOB_MISSING`.
 */
export async function soundBytes(event: RecordedEvent, blobs: BlobStore): Promise<Uint8Array | null> {
  const stored = await storedBytes(event, blobs)
  const { size, hash } = event.header.body
  if (stored?.length !== SALT_BYTES + size) return null
  const hasher = bodyHasher()
  const yieldToEventLoop = yielder()
  for (let at = 0; at < stored.length; at += PART) {
    hasher.update(stored.subarray(at, at + PART))
    await yieldToEventLoop()
  }
  return hasher.hex() === hash ? unsalted(stored) : null
}
const PART = 1024 * 1024
