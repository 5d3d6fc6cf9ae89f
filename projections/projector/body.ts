import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { LogError } from '../../domain/log/errors.ts'
import { bodyHash } from '../../domain/log/seal.ts'
import type { BlobStore } from '../../domain/ports.ts'
import type { Poison } from './decode.ts'

/**
 * An event's body bytes, from the event or the blob store; null: erased. Blobs are checked against the salted hash; inline
 * bodies are the log's to check. A missing or wrong blob is the event's fault and is told; other failures reject.
 */
export async function bodyBytes(
  event: RecordedEvent,
  blobs: BlobStore,
): Promise<Uint8Array | null | { readonly poison: Poison }> {
  if (event.erased) return null
  if (event.body) return event.body
  const { runId, body } = event.header
  if (body.place === 'inline') return { poison: { code: 'BODY_MISMATCH', message: 'the log gave no body' } }
  try {
    const bytes = await blobs.get(runId, body.hash)
    if (bodyHash(Buffer.from(body.salt, 'hex'), bytes) === body.hash) return bytes
    return { poison: { code: 'BODY_MISMATCH', message: 'the blob is not what was sealed; restore it, then release' } }
  } catch (error) {
    if (!(error instanceof LogError && error.code === 'BLOB_MISSING')) throw error
    return { poison: { code: 'BLOB_MISSING', message: 'the blob is missing; restore it, then release' } }
  }
}
