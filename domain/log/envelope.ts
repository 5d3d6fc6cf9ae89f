import { z } from 'zod'
import { kindOf } from './owner.ts'

// These names are the storage format of every header in every log.

/** The format of headers, chain and ids. A reader that meets a higher number must stop. */
export const FORMAT = 1

/** The reader version of this program. Only a newer program reads a stream with a greater `minReader`. */
export const READER = 1

/** The author of an event. `claimed`: the caller gave the id, and it was not checked. */
export const Actor = z.strictObject({
  kind: z.enum(['user', 'approver', 'model', 'driver', 'courier', 'system', 'gateway', 'backend']),
  id: z.string().min(1),
  claimed: z.literal(true).optional(),
})
export type Actor = z.infer<typeof Actor>

const Hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`))

export const Cipher = z.strictObject({ alg: z.string(), keyId: z.string(), nonce: z.string() })

/**
 * The header's description of its body. `size`: in bytes as stored, without the salt. `hash`: SHA-256 of the stored
 * bytes, which begin with a salt of 16 random bytes (lower-case hex).
 */
export const BodyHeader = z.strictObject({
  place: z.enum(['inline', 'blob']),
  size: z.int().nonnegative(),
  mediaType: z.string().min(1),
  hash: Hex(32),
  cipher: Cipher.optional(),
})
export type BodyHeader = z.infer<typeof BodyHeader>

/**
 * The header of every event. `stream` is without the namespace; `timestamp` is ISO 8601 with milliseconds and never
 * decreases within a stream; `turn` is 0 outside turns; `driver` is absent on events that no driver wrote; `digest` is
 * the digest of the state after this event. Four members give an event's cause, from near to far:
 * - `commandId`: the request, courier key or effect attempt whose decision appended the event. For a request with an
 *   Idempotency-Key: `key:` and a hash of the key, never the key.
 * - `causationId`: `<stream>@<revision>` of the event that caused this one: an outcome's intent, a decision's request,
 *   the decision that allowed an intent, or a delivery's event in its source stream. Absent when the cause is the event
 *   before it in the same append, or no event. Never an id or hash, which exist only after sealing.
 * - `correlationId`: the outermost request that started the work (a start, input, approval …), across appends, drivers
 *   and streams: the commandId of that request, or the id that its caller gave. Absent when it equals the event's own
 *   commandId.
 * - `trace`: the W3C trace context of the request.
 *
 * `runId`: the run that caused the event; `agentId`: the agent. Streams of agents have both, other streams may have a
 * run. `wakeAt`: on the last event of an append by an aggregate that can have open work: the time when the stream needs
 * its driver next, in ms since the epoch, computed from the state after the append; null: not before another event.
 * `minReader`, on the first event of a stream: the least {@link READER} that may read the stream. `keyId`, also on the
 * first event: the key that encrypts the bodies of the stream.
 */
export const Header = z
  .strictObject({
    format: z.literal(FORMAT),
    stream: z.string().min(1),
    type: z.string().min(1),
    version: z.int().positive(),
    runId: z.string().min(1).optional(),
    agentId: z.string().min(1).optional(),
    turn: z.int().nonnegative(),
    revision: z.int().nonnegative(),
    timestamp: z.iso.datetime({ precision: 3 }),
    commandId: z.string().min(1),
    actor: Actor,
    driver: z.strictObject({ id: z.string().min(1), epoch: z.int().positive() }).optional(),
    correlationId: z.string().min(1).optional(),
    causationId: z.string().min(1).optional(),
    toolCallId: z.string().min(1).optional(),
    trace: z.string().min(1).optional(),
    digest: z.strictObject({ fold: z.int().positive(), value: Hex(32) }).optional(),
    wakeAt: z.int().nonnegative().nullable().optional(),
    minReader: z.int().positive().optional(),
    keyId: z.string().min(1).optional(),
    body: BodyHeader,
  })
  .refine((h) => ownerFault(h) === null)
export type Header = z.infer<typeof Header>

type Owned = { readonly [K in 'stream' | 'runId' | 'agentId' | 'revision' | 'minReader' | 'keyId']?: unknown }

/** Says which members are not allowed in the header of this stream and revision; null when all are. */
export function ownerFault({ stream, runId, agentId, revision, minReader, keyId }: Owned): string | null {
  if (kindOf(stream as string) === 'agent' && (runId === undefined || agentId === undefined))
    return 'an event of an agent names its run and its agent'
  if (revision !== 0 && (minReader !== undefined || keyId !== undefined))
    return 'minReader and keyId stand on the first event of a stream only'
  return null
}

/**
 * An event as stored: the header, the stored bytes of its body, which begin with the salt (null: in the blob store, or
 * erased), its chain hash (lower-case hex) and its id (a version 8 UUID made of the hash).
 */
export interface SealedEvent {
  readonly header: Header
  readonly body: Uint8Array | null
  readonly hash: string
  readonly id: string
}

/** A sealed event at its place in the log. `position` grows strictly over the whole log; it need not be dense. */
export interface RecordedEvent extends SealedEvent {
  readonly position: number
  /** An `erased` fact emptied the body. */
  readonly erased?: true
}

/** Whether a text is a W3C `traceparent` of version 00, or of a later version that begins alike. */
export const isTraceParent = (text: string): boolean => /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text)
