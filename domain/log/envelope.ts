import { z } from 'zod'
import { kindOf } from './owner.ts'

// These names are the storage format: every header in every log is written with them.

/** The format of headers, chain and ids. A reader that meets a higher number must stop. */
export const FORMAT = 1

/** The reader version of this program: a stream that asks for a greater number (`minReader`) is left to a newer program. */
export const READER = 1

/** The author of an event. `claimed`: the caller gave the id, and it was not checked. */
export const Actor = z.strictObject({
  kind: z.enum(['user', 'approver', 'model', 'driver', 'courier', 'system', 'gateway', 'backend']),
  id: z.string().min(1),
  claimed: z.literal(true).optional(),
})
export type Actor = z.infer<typeof Actor>

const Hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`))

/** How stored bytes are enciphered. */
export const Cipher = z.strictObject({ alg: z.string(), keyId: z.string(), nonce: z.string() })

/** The header's description of its body: place, size in bytes as stored, salt and salted hash (lower-case hex). */
export const BodyHeader = z.strictObject({
  place: z.enum(['inline', 'blob']),
  size: z.int().nonnegative(),
  mediaType: z.string().min(1),
  salt: Hex(16),
  hash: Hex(32),
  cipher: Cipher.optional(),
})
export type BodyHeader = z.infer<typeof BodyHeader>

/**
 * The header of every event. `stream` is without the namespace; `timestamp` is ISO 8601 with milliseconds and never
 * decreases within a stream; `turn` is 0 outside turns; `driver` is absent on what no driver wrote; `digest` is that of
 * the state after this event. What stands behind an event, from near to far:
 * - `commandId`: the request, courier key or effect attempt that was decided when it was appended. Of a request that came
 *   with an Idempotency-Key it is `key:` and a hash of the key, never the key.
 * - `causationId`: `<stream>@<revision>` of the event that it follows from: an outcome from its intent, a decision from
 *   what was asked, an intent from the decision that allowed it, a delivery from the event in its source stream. Absent
 *   where that is the event before it in the same append, or no event at all. Never an id or hash, which exist only after
 *   sealing.
 * - `correlationId`: the outermost request that set the agent going (a start, input, approval …), over appends, drivers
 *   and streams: the commandId of that request, or what its caller named. Absent where it is the event's own commandId.
 * - `trace`: the W3C trace context that came with the request.
 *
 * `runId`: the run that caused the event; `agentId`: the agent. Streams of agents have both, other streams may have a run.
 * `wakeAt`: on the last event of an append by an aggregate that can owe something: when the stream must be driven next, ms
 * since the epoch, computed from the state after the append; null: not before something new is recorded.
 * `minReader`, on the first event of a stream: the least {@link READER} that may read the stream. `keyId`, also there: the key
 * that the bodies of the stream are enciphered with.
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

/** Why members cannot stand in the header of this stream and revision, or null. */
export function ownerFault({ stream, runId, agentId, revision, minReader, keyId }: Owned): string | null {
  if (kindOf(stream as string) === 'agent' && (runId === undefined || agentId === undefined))
    return 'an event of an agent names its run and its agent'
  if (revision !== 0 && (minReader !== undefined || keyId !== undefined))
    return 'minReader and keyId stand on the first event of a stream only'
  return null
}

/**
 * An event as it is stored: the header, the body's bytes (null: they lie in the blob store, or were erased), its chain
 * hash (lower-case hex) and its id (a version 8 UUID made of the hash).
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
  /** The body was emptied by an `erased` fact. */
  readonly erased?: true
}

/** Whether a text is a W3C `traceparent` of version 00, or of a later version that begins alike. */
export const isTraceParent = (text: string): boolean => /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text)
