import { canonicalHeader, canonicalText } from '../canonical.ts'
import type { RecordedEvent } from '../envelope.ts'
import { base64 } from './encoding.ts'

// Lines of a pack, which api/docs/verify.py verifies without keepup: `events.ndjson` in the order of the log,
// `checkpoint` (a signed note), `policy.txt` and, unless the pack has every event of the log, `hashes.txt`: the hash of
// each largest subtree without a packed event, from left to right.

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
  const before = absent === undefined ? '{' : `{"absent":${canonicalText(absent)},`
  const after = previous === undefined ? '' : `"previous":"${previous}",`
  // The members are in the order of RFC 8785, which is several times faster than sorting them.
  return `${before}"body":${text(body)},"hash":"${hash}","header":${canonicalHeader(header)},"index":${index},"position":${position},${after}"salt":${text(salt)}}\n`
}

const text = (bytes: Uint8Array | null): string => (bytes === null ? 'null' : `"${base64(bytes)}"`)

/** The line of a hash in `hashes.txt`, with its newline. */
export const packedHashLine = (hash: Uint8Array): string => `${base64(hash)}\n`

/** Types of events whose body can name a whole result, which is in the file `blobs/HASH`. */
export const ATTACHING: ReadonlySet<string> = new Set(['tool_call_end', 'late_outcome'])

/** The SHA-256 of each version of `verify.py`, the newest last. */
export const VERIFIERS: readonly string[] = [
  '8750d7d238c7b3921872ead7ce96bec65197f854153cd2aebc122cbe30fc1711',
  '4e31e7e94dd55463086fde2fdd9068f337b67c5cd2e9e5ee4af78187be65a4c0',
  'f4456eaf8c4c261699582351a3f84ce22f1548a35dc9af8557d9f14d8a006618',
  '6fa508bfb446aaf6f6db78e4d4dddd9c530fef15d32f2f77235ddb6587aca6dd',
  'fa772dd3d412f33bf3efc25050a15ee9b997d528866d33d730543a4dc9abe29b',
]
