import { z } from 'zod'
import { Usage } from '../../calls/content.ts'
import { Failure, hashSalt } from '../../calls/events/event-parts.ts'
import { Policy } from '../../calls/policy-schema.ts'
import { Effect } from '../../calls/tools/tool-spec.ts'
import { AnyJsonValue, count, Hash, text } from '../../log/body-parts.ts'

// Bodies of runs that a program hosts: it runs the agent itself and records each model call and each tool call through
// keepup's library. These shapes are the storage format (see ../events.ts).

const some = z.string().min(1)
const json = z.record(z.string(), AnyJsonValue)

/**
 * The rules for the calls of a hosted agent. `effects`: by tool pattern; of several patterns the most specific one
 * applies, and a tool without one is irreversible.
 */
export const Hosting = z.strictObject({ policy: Policy, effects: z.record(z.string(), Effect), hashSalt })
export type Hosting = z.infer<typeof Hosting>

/**
 * A request to a model. With `after`, the request begins with the first `messages` messages of that call's request, and
 * has the tools of that call unless it names its own.
 */
export const HostedRequest = z.strictObject({
  after: z.strictObject({ call: count, messages: count }).optional(),
  settings: json,
  tools: z.array(AnyJsonValue).optional(),
  messages: z.array(AnyJsonValue),
})
export type HostedRequest = z.infer<typeof HostedRequest>

export const HOSTED_OUTCOMES = ['answered', 'failed', 'aborted', 'lost'] as const

export const hostedBodies = {
  /** The intent of a model call. `call`: its number in the run, from 0. `key`: the hash of the whole request under the salt of hashes. */
  model_requested: z.strictObject({ call: count, key: Hash, provider: text, model: some, request: HostedRequest }),
  /**
   * `answer`: what the model's adapter returned. `aborted`: the program did not wait for the answer. `lost`: the program
   * ended before it recorded an outcome.
   */
  model_outcome: z.strictObject({
    call: count,
    outcome: z.enum(HOSTED_OUTCOMES),
    durationMs: count,
    model: some.optional(),
    answer: AnyJsonValue.optional(),
    text: text.optional(),
    usage: Usage.optional(),
    nanoDollars: count.optional(),
    error: Failure.optional(),
  }),
  /** Entries of a transcript, in order. Absent `subpath`: the main transcript of the session. */
  transcript_mirrored: z.strictObject({ subpath: some.optional(), entries: z.array(json) }),
  /** Entries before this point did not arrive. `after`: the missing entry that the next one follows. `error`: why. */
  mirror_gap: z.strictObject({ subpath: some.optional(), after: some.optional(), error: text.optional() }),
  /** A transcript was deleted; absent `subpath`: all transcripts of the session. Its entries are erased. */
  transcript_deleted: z.strictObject({ subpath: some.optional() }),
} as const
