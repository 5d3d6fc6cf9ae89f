import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { ownerOf } from '../../../domain/log/owner.ts'
import { sealedBody } from '../../../domain/log/seal.ts'
import { wasErasedSince } from '../../../domain/stream/runtime/bodies.ts'
import type { Stores } from '../../../domain/stream/runtime/ports.ts'
import type { Poison } from '../changes/poison.ts'
import { isDamaged, type LogEntry } from './damage.ts'

/** A body's bytes without the salt; null: erased, or not read. */
export type Body = Uint8Array | null | { readonly poison: Poison }

/** The size of an entry's body in memory, in bytes. */
export const bodySize = (entry: LogEntry): number => (isDamaged(entry) || entry.erased ? 0 : entry.header.body.size)

/** An inline body; null: none. A body that differs from the sealed one is poison. */
export function sealedInlineBody({ header, body }: RecordedEvent): Body {
  return body && (sealedBody(header.body, body) ?? altered('body'))
}

/**
 * An event's body, inline or from the blob store, checked against its salted hash; null: erased, even after the event
 * was read. A missing or altered body is poison; rejects with any other error.
 */
export async function bodyBytes(event: RecordedEvent, { log, blobs }: Stores): Promise<Body> {
  if (event.erased) return null
  const inline = sealedInlineBody(event)
  if (inline !== null) return inline
  const { body } = event.header
  if (body.place === 'inline')
    return { poison: { code: 'BODY_MISMATCH', message: 'the log holds no body; restore it, then release' } }
  try {
    return sealedBody(body, await blobs.get(ownerOf(event.header), body.hash)) ?? altered('blob')
  } catch (error) {
    if (!(error instanceof LogError && error.code === 'BLOB_MISSING')) throw error
    if (await wasErasedSince(log, event, error)) return null
    return { poison: { code: 'BLOB_MISSING', message: 'the blob is missing; restore it, then release' } }
  }
}

/** Marks an event as erased when {@link bodyBytes} found that its body was erased after the read. */
export const asItIs = (event: RecordedEvent, bytes: Body): RecordedEvent =>
  bytes === null && !event.erased ? { ...event, erased: true } : event

const altered = (what: 'body' | 'blob'): { readonly poison: Poison } => ({
  poison: { code: 'BODY_MISMATCH', message: `the ${what} differs from the sealed one; restore it, then release` },
})
