import { canonicalText } from '../canonical.ts'
import type { RecordedEvent } from '../envelope.ts'
import { base64 } from './encoding.ts'

// Lines of a pack, which api/docs/verify.py verifies without keepup: `events.ndjson` in the order of the log,
// `checkpoint` (a signed note), `policy.txt` and, unless the pack has every event of the log, `proofs.ndjson`.

/** `reason`: as the `erased` fact gives it. */
export type AbsentBody = { readonly why: 'erased'; readonly reason: string } | { readonly why: 'withheld' }

/** An event in a pack. */
export interface PackedEvent {
  readonly event: Pick<RecordedEvent, 'header' | 'hash' | 'position'>
  /** The leaf of the event in the tree. */
  readonly index: number
  /** The stored body without the salt, and the salt. Null: erased or not packed. */
  readonly body: Uint8Array | null
  readonly salt: Uint8Array | null
  /** Why there is no body. Absent: the body is here, or in the file `blobs/HASH`. */
  readonly absent?: AbsentBody
  /** The hash before the event, hex, where the pack lacks the event before it in its stream. */
  readonly previous?: string
}

/** The line of an event in `events.ndjson`, with its newline. */
export function packedEventLine({ event, index, body, salt, absent, previous }: PackedEvent): string {
  const { header, hash, position } = event
  const bytes = { body: body && base64(body), salt: salt && base64(salt) }
  const more = { ...(absent !== undefined && { absent }), ...(previous !== undefined && { previous }) }
  return `${canonicalText({ header, hash, index, position, ...bytes, ...more })}\n`
}

/** The line of an event's inclusion proof in `proofs.ndjson`, with its newline. */
export const packedProofLine = (index: number, proof: readonly Uint8Array[]): string =>
  `${JSON.stringify({ index, proof: proof.map(base64) })}\n`
