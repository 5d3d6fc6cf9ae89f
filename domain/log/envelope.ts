import { z } from 'zod'

// These names are the storage format: every header in every log is written with them.

/** The format of headers, chain and ids. A reader that meets a higher number must stop. */
export const FORMAT = 1

/** Who stands behind an event. `claimed`: the id was said by the caller and nobody has checked it. */
export const Actor = z.strictObject({
  kind: z.enum(['user', 'approver', 'model', 'driver', 'courier', 'system']),
  id: z.string().min(1),
  claimed: z.literal(true).optional(),
})
export type Actor = z.infer<typeof Actor>

const Hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`))

/** What a header says of its body: place, size in bytes as stored, salt and salted hash (lower-case hex). */
export const BodyHeader = z.strictObject({
  place: z.enum(['inline', 'blob']),
  size: z.int().nonnegative(),
  mediaType: z.string().min(1),
  salt: Hex(16),
  hash: Hex(32),
  cipher: z.strictObject({ alg: z.string(), keyId: z.string(), nonce: z.string() }).optional(),
})
export type BodyHeader = z.infer<typeof BodyHeader>

/**
 * The header of every event. `stream` is without the namespace; `timestamp` is ISO 8601 with milliseconds and never
 * decreases within a stream; `turn` is 0 outside turns; `driver` is absent on what no driver wrote; `commandId` names
 * the request, courier key or effect attempt that caused the event; `digest` is that of the state after this event.
 */
export const Header = z.strictObject({
  format: z.literal(FORMAT),
  stream: z.string().min(1),
  type: z.string().min(1),
  version: z.int().positive(),
  runId: z.string().min(1),
  agentId: z.string().min(1),
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
  body: BodyHeader,
})
export type Header = z.infer<typeof Header>

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
