import { canonicalText } from '../canonical.ts'
import type { RecordedEvent } from '../envelope.ts'
import { base64 } from './encoding.ts'

// Lines of a pack, which api/docs/verify.py verifies without keepup: `events.ndjson` in the order of the log,
// `checkpoint` (a signed note), `policy.txt` and, unless the pack has every event of the log, `proofs.ndjson`.

/** An event in a pack. */
export interface PackedEvent {
  readonly event: Pick<RecordedEvent, 'header' | 'hash' | 'position'>
  /** The leaf of the event in the tree. */
  readonly index: number
  /** The stored body without the salt, and the salt. Null: erased or not packed. */
  readonly body: Uint8Array | null
  readonly salt: Uint8Array | null
  /** The hash before the event, hex, where the pack lacks the event before it in its stream. */
  readonly previous?: string
}

/** The line of an event in `events.ndjson`, with its newline. */
export function packedEventLine({ event, index, body, salt, previous }: PackedEvent): string {
  const { header, hash, position } = event
  const bytes = { body: body && base64(body), salt: salt && base64(salt) }
  return `${canonicalText({ header, hash, index, position, ...bytes, ...(previous !== undefined && { previous }) })}\n`
}

/** The line of an event's inclusion proof in `proofs.ndjson`, with its newline. */
export const packedProofLine = (index: number, proof: readonly Uint8Array[]): string =>
  `${JSON.stringify({ index, proof: proof.map(base64) })}\n`
