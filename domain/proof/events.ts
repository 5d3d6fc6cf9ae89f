import { z } from 'zod'
import type { EventsOf } from '../stream/emitter.ts'
import type { erasureEvents } from '../stream/erasure.ts'

// Storage format: the events of `proof-log`, the stream about the log's signatures and anchors, and of `proof-witness`,
// the stream about the checkpoints of other logs that this log's witness cosigned.

/** `folder`: a folder elsewhere; `git`: a git repository; `witness`: a C2SP witness; `timestamp`: an RFC 3161 service. */
export const ANCHOR_KINDS = ['folder', 'git', 'witness', 'timestamp'] as const
export type AnchorKind = (typeof ANCHOR_KINDS)[number]

/** The size of a tree and its root in base64. */
const Head = z.strictObject({ origin: z.string().min(1), size: z.int().nonnegative(), root: z.string().length(44) })
export type TreeHead = z.infer<typeof Head>

/**
 * Why an origin begins: the log's first start, an accepted loss, a key that is not the key of the last origin, or heads
 * of the last origin that are not stored any more, so that a new head could contradict them.
 */
export const ORIGIN_REASONS = ['first', 'loss', 'key_lost', 'heads_lost'] as const

const Id = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/)

export const proofBodies = {
  /** A new key begins a new origin. `after`: the last signed head of the origin before, as far as it is known. */
  log_key_created: z.strictObject({
    origin: z.string().min(1),
    vkey: z.string().min(1),
    reason: z.enum(ORIGIN_REASONS),
    after: Head.nullable(),
  }),
  /** The key of the origin is replaced. `note`: the new verifier key, signed with the old key. */
  log_key_rotated: z.strictObject({ origin: z.string().min(1), vkey: z.string().min(1), note: z.string().min(1) }),
  /** `target`: a path or URL. `vkey`: the key of a witness. */
  anchor_added: z.strictObject({
    anchor: Id,
    kind: z.enum(ANCHOR_KINDS),
    target: z.string().min(1),
    vkey: z.string().min(1).optional(),
  }),
  anchor_removed: z.strictObject({ anchor: Id }),
  /** `checkpoint`: the anchored note. `receipt`: the anchor's answer in base64; null: the anchor gives none. */
  anchor_made: Head.extend({
    anchor: Id,
    kind: z.enum(ANCHOR_KINDS),
    target: z.string().min(1),
    checkpoint: z.string().min(1),
    receipt: z.base64().nullable(),
  }),
  /** The witness cosigns with this key from now on. `losses`: the accepted losses of this log until then. */
  witness_key_created: z.strictObject({ vkey: z.string().min(1), losses: z.int().nonnegative() }),
  /** The witness cosigns checkpoints of this log. An origin can have several keys. */
  witness_log_added: z.strictObject({ origin: z.string().min(1), vkey: z.string().min(1) }),
  witness_log_removed: z.strictObject({ origin: z.string().min(1) }),
  /** `checkpoint`: the note with the signatures of its log. The cosignature has the time of this event. */
  checkpoint_cosigned: Head.extend({ checkpoint: z.string().min(1) }),
} as const

export type ProofEvent = EventsOf<typeof proofBodies & typeof erasureEvents>
