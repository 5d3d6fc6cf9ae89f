import { z } from 'zod'
import { AnyJsonValue, count, Hash, text } from '../../log/body-parts.ts'
import { Cipher } from '../../log/envelope.ts'
import { Effect } from '../tools/tool-spec.ts'

// Parts of the events of calls. These shapes are the storage format (see events.ts).

/**
 * 16 random bytes in lower-case hex. Every hash of content in the stream's events starts with them, so that it confirms
 * no guess after an erasure. Absent: erased with the body that contained them.
 */
export const hashSalt = z
  .string()
  .regex(/^[0-9a-f]{32}$/)
  .optional()
export const Failure = z.strictObject({ code: z.string().min(1), message: text, rule: text.optional() })
export type Failure = z.infer<typeof Failure>

/** The place of a call's arguments: block `block` of the model's answer at `revision` of the same stream. */
export const ArgumentsRef = z.strictObject({ revision: count, block: count })
export type ArgumentsRef = z.infer<typeof ArgumentsRef>

export const Artifact = z.strictObject({
  id: z.string().min(1),
  type: z.enum(['file', 'plan', 'report', 'diagram']),
  title: text.optional(),
  path: text.optional(),
  /** The content is that of item `item` of the `artifacts` in these arguments. */
  argumentsRef: ArgumentsRef.extend({ item: count }).optional(),
  hash: text.optional(),
  size: count.optional(),
  mimeType: text.optional(),
  /** The agent named the file, but it did not exist. */
  claimed: z.literal(true).optional(),
})
export type Artifact = z.infer<typeof Artifact>

/** A requested call, judged when the model's answer arrived. Its arguments are in that answer's block. */
export const PlannedCall = z.strictObject({
  block: count,
  toolName: text,
  /** The name that the model wrote; present only for an unknown tool. */
  askedName: text.optional(),
  argumentsHash: Hash,
  /** Real workspace paths that the call touches, for grouping. */
  reads: z.array(text),
  writes: z.array(text),
  effect: Effect,
  /** Why the call must not run; absent: it may run. */
  refused: Failure.optional(),
  /**
   * The run's secrets that the arguments refer to; the tool receives their values. `to`: where they go, in words; absent
   * in older events. Absent: none.
   */
  secrets: z
    .array(z.strictObject({ name: text, reference: text, to: text.optional() }))
    .min(1)
    .optional(),
  /** The recorded event that supplies the outcome while the run follows the record. */
  recorded: z.strictObject({ stream: z.string().min(1), revision: count }).optional(),
  /** The permission that lifts the policy's refusal: the id of the call that asked for it. */
  permission: text.optional(),
})
export type PlannedCall = z.infer<typeof PlannedCall>

/** A secret that a call would send, by name, and its destination in words. A question to a person shows it. */
export interface SentSecret {
  readonly name: string
  readonly to: string
}

/** The secrets of a planned call whose destinations are recorded. */
export const sentSecrets = ({ secrets = [] }: Pick<PlannedCall, 'secrets'>): SentSecret[] =>
  secrets.flatMap(({ name, to }) => (to === undefined ? [] : [{ name, to }]))

/**
 * A whole result in the blob store, as UTF-8 text after a salt of 16 random bytes. `hash`: SHA-256 of the stored bytes;
 * with the run id it is the blob's address. `size`: of the text, in bytes. `head` and `tail`: the beginning and end of
 * the text, for lists. `cipher`: how the text is encrypted; if present, `size` is that of the encrypted bytes.
 */
export const Attachment = z.strictObject({
  hash: Hash,
  size: count,
  head: text,
  tail: text,
  cipher: Cipher.optional(),
})
export type Attachment = z.infer<typeof Attachment>

/** The end of an attempt of a call: a result or an error. With `attachment`, `result` is only a part of the result. */
export const outcome = {
  toolName: text,
  success: z.boolean(),
  attempt: z.int().positive(),
  durationMs: count,
  result: AnyJsonValue.optional(),
  attachment: Attachment.optional(),
  error: Failure.optional(),
}
type Outcome = { success: boolean; result?: unknown; attachment?: unknown; error?: unknown }
/** Refinement: a success has a result and no error; a failure has an error, no result and no attachment. */
export const oneOutcome = [
  ({ success, result, attachment, error }: Outcome) =>
    (result !== undefined) === success && (error === undefined) === success && (success || attachment === undefined),
  'expected a result where it succeeded, and else an error',
] as const

/** By path argument: the real path it resolves to, or why it is refused. Resolved when the model's answer arrived. */
export type ResolvedPaths = Readonly<Record<string, string | Failure>>
