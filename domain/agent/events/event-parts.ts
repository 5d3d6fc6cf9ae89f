import { z } from 'zod'
import { Cipher } from '../../log/envelope.ts'
import { Effect } from '../definition/tools.ts'
import { Purpose } from '../routing/decision.ts'

// Parts of the bodies of events. These shapes are the storage format too (see events.ts).

/** Parsed JSON text is JSON: bodies are checked as they were parsed, so that only its absence can be wrong. */
export const Json = z.unknown().refine((value) => value !== undefined, 'expected a value') as unknown as z.ZodType<
  z.infer<ReturnType<typeof z.json>>
>
export const text = z.string()
export const count = z.int().nonnegative()
/** A SHA-256, lower-case hex. */
export const Hash = z.string().regex(/^[0-9a-f]{64}$/)
/** An instant, ISO 8601 with milliseconds. */
export const Instant = z.iso.datetime({ precision: 3 })
/**
 * 16 random bytes, lower-case hex, that every hash of a call's arguments begins with: what was erased is not confirmed by a
 * guess. Absent: they were erased with what stood beside them.
 */
export const argumentsSalt = z
  .string()
  .regex(/^[0-9a-f]{32}$/)
  .optional()
export { Purpose }

/** A failure as events carry it. */
export const Failure = z.strictObject({ code: z.string().min(1), message: text, rule: text.optional() })
export type Failure = z.infer<typeof Failure>

/**
 * A call's arguments, which are stored once: block `block` of the model's answer at `revision` of the same stream.
 */
export const ArgumentsRef = z.strictObject({ revision: count, block: count })
export type ArgumentsRef = z.infer<typeof ArgumentsRef>

export const Artifact = z.strictObject({
  id: z.string().min(1),
  type: z.enum(['file', 'plan', 'report', 'diagram']),
  title: text.optional(),
  path: text.optional(),
  /** Its content is that of item `item` of the `artifacts` in these arguments. */
  argumentsRef: ArgumentsRef.extend({ item: count }).optional(),
  hash: text.optional(),
  size: count.optional(),
  mimeType: text.optional(),
  /** Named by the agent, but no such file was there. */
  claimed: z.literal(true).optional(),
})
export type Artifact = z.infer<typeof Artifact>

/** A requested call as it was judged when the model's answer came in; the arguments are in that answer's block. */
export const PlannedCall = z.strictObject({
  block: count,
  toolName: text,
  /** The name that the model wrote, where there is no such tool. */
  askedName: text.optional(),
  argumentsHash: Hash,
  /** Real workspace paths that the call touches, for grouping. */
  reads: z.array(text),
  writes: z.array(text),
  effect: Effect,
  /** Set where the call must not run. */
  refused: Failure.optional(),
  /** The run's secrets to which its arguments refer, for which the tool is given the values. Absent where there are none. */
  secrets: z
    .array(z.strictObject({ name: text, reference: text }))
    .min(1)
    .optional(),
  /** The event of the record that its outcome is taken from, as long as the record is followed. */
  recorded: z.strictObject({ stream: z.string().min(1), revision: count }).optional(),
  /** The permission that lifts the policy's refusal of it: the call that had asked for it. */
  permission: text.optional(),
})
export type PlannedCall = z.infer<typeof PlannedCall>

/**
 * A whole result that lies in the blob store, as UTF-8 text. `hash`: SHA-256 over the salt (16 bytes, hex) and the text,
 * which with the run id is its address; `size` in bytes; `head` and `tail`: its beginning and end, for lists.
 * `cipher`: the stored bytes are enciphered so; `hash` and `size` are of the bytes as stored.
 */
export const Attachment = z.strictObject({
  hash: Hash,
  salt: z.string().regex(/^[0-9a-f]{32}$/),
  size: count,
  head: text,
  tail: text,
  cipher: Cipher.optional(),
})
export type Attachment = z.infer<typeof Attachment>

/** How an attempt of a call ended: with its result, or with what failed. `attachment`: `result` is only a part of it. */
export const outcome = {
  toolName: text,
  success: z.boolean(),
  attempt: z.int().positive(),
  durationMs: count,
  result: Json.optional(),
  attachment: Attachment.optional(),
  error: Failure.optional(),
}
type Outcome = { success: boolean; result?: unknown; attachment?: unknown; error?: unknown }
/** A refinement: one of the two, and nothing of the other. */
export const oneOutcome = [
  ({ success, result, attachment, error }: Outcome) =>
    (result !== undefined) === success && (error === undefined) === success && (success || attachment === undefined),
  'expected a result where it succeeded, and else an error',
] as const

/** Where a requested call's path arguments really lead, resolved when the answer came in. */
export type ResolvedPaths = Readonly<Record<string, string | Failure>>
