import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { LogError } from '../../domain/log/errors.ts'
import { ownerOf } from '../../domain/log/owner.ts'
import { isSealedBody } from '../../domain/log/seal.ts'
import type { BlobStore } from '../../domain/ports.ts'
import { type Given, isDamaged } from './damage.ts'
import type { Poison } from './decode.ts'

/** A body's bytes; null: erased, or not at hand. */
export type Body = Uint8Array | null | { readonly poison: Poison }

/** How many bytes an event's body takes in memory. */
export const bodySize = (given: Given): number => (isDamaged(given) || given.erased ? 0 : given.header.body.size)

/** An inline body; null: there is none. One that is not what was sealed is the event's fault and is told. */
export function atHand({ header, body }: RecordedEvent): Body {
  return body && (isSealedBody(header.body, body) ? body : altered('body'))
}

/**
 * An event's body bytes, from the event or the blob store, checked against the salted hash; null: erased. A missing or wrong
 * body is the event's fault and is told; other failures reject.
 */
export async function bodyBytes(event: RecordedEvent, blobs: BlobStore): Promise<Body> {
  if (event.erased) return null
  const inline = atHand(event)
  if (inline !== null) return inline
  const { body } = event.header
  if (body.place === 'inline') return { poison: { code: 'BODY_MISMATCH', message: 'the log gave no body' } }
  try {
    const bytes = await blobs.get(ownerOf(event.header), body.hash)
    return isSealedBody(body, bytes) ? bytes : altered('blob')
  } catch (error) {
    if (!(error instanceof LogError && error.code === 'BLOB_MISSING')) throw error
    return { poison: { code: 'BLOB_MISSING', message: 'the blob is missing; restore it, then release' } }
  }
}

const altered = (what: 'body' | 'blob'): { readonly poison: Poison } => ({
  poison: { code: 'BODY_MISMATCH', message: `the ${what} is not what was sealed; restore it, then release` },
})
