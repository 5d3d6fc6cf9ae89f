import { z } from 'zod'
import { Artifact, count, Hash, text } from './event-parts.ts'

// Events between parent and child. Each is either an obligation, which a courier copies into the other stream, or the copy,
// which names its origin. These names and shapes are the storage format.

const name = z.string().min(1)

/**
 * The event of another stream from which this one was copied. `losses`: how often that stream had lost its end, by losses that
 * were accepted, before the event: after a loss a revision may be another event's.
 */
export const Origin = z.strictObject({
  stream: name,
  revision: count,
  bodyHash: Hash,
  losses: z.int().positive().optional(),
})
export type Origin = z.infer<typeof Origin>

/** Set where a courier has brought the event. */
const brought = { origin: Origin.optional() }

/** Of an agent that another one has started. `ancestors`: those of its parent, the root first. */
export const born = {
  parent: z.strictObject({ agentId: text, toolCallId: text, ancestors: z.array(name).optional() }).optional(),
  ...brought,
}

/** The three budgets of a tree: they are reserved, settled and topped up alike. */
export const Amounts = z.strictObject({ tokens: count, nanoDollars: count, agents: count })
export type Amounts = z.infer<typeof Amounts>

/** The budget of a child at its birth; null: its parent has no limit of this kind. `agents` includes the child itself. */
export const Grant = z.strictObject({
  tokens: z.int().positive().nullable(),
  nanoDollars: z.int().positive().nullable(),
  agents: z.int().positive(),
})
export type Grant = z.infer<typeof Grant>

/**
 * The use of an agent and all agents below it since the last report; an estimate that was too high makes a member
 * negative. `uncertain`: the most that may still be added by answers and agents of which the end is not known.
 */
export const Report = z.strictObject({
  spent: z.strictObject({
    input: z.int(),
    output: z.int(),
    cacheRead: z.int(),
    cacheWrite: z.int(),
    nanoDollars: z.int(),
    agents: z.int(),
  }),
  uncertain: z.strictObject({ tokens: z.int(), nanoDollars: z.int(), agents: z.int() }),
})
export type Report = z.infer<typeof Report>

const childId = name
/** The child is another agent. */
const ofKind = { external: z.literal(true).optional() }
const ended = { status: z.enum(['completed', 'failed']), code: name.optional() }

export const treeEvents = {
  /** Of people, or passed down from the parent. */
  paused: z.strictObject({ reason: text.optional(), ...brought }),
  resumed: z.strictObject(brought),
  cancel_requested: z.strictObject({ reason: text.optional(), deadlineMs: z.int().positive(), ...brought }),
  /** Obligation to the child that comes into being by it. `tree`: the files as the parent knows them. */
  child_delegated: z.strictObject({
    childId,
    role: name,
    task: name,
    constraints: z.array(name),
    expectedOutput: name.optional(),
    grant: Grant,
    tree: z.string().nullable(),
    /** Of a child that is another agent: its kind, and the extensions that its rights are. */
    backend: z
      .strictObject({
        kind: name,
        extensions: z.record(z.string(), z.json()),
        /** keepup's tools that it may call; absent: none. */
        tools: z.array(name).min(1).optional(),
      })
      .optional(),
  }),
  /** Obligation to the parent, in the append that ends the child. */
  end_reported: z.strictObject({
    ...ended,
    /** The summary of its completion, or the text of its error. */
    message: text,
    partialOutput: text.optional(),
    nextSteps: text.optional(),
    artifacts: z.array(text),
    unmetGates: z.array(text),
    report: Report,
  }),
  /** The parent's record of a child's end. `head`: the end of the child's stream, which must not be lost from then on. */
  child_ended: z.strictObject({
    origin: Origin,
    childId,
    head: z.strictObject({ revision: count, hash: Hash }),
    ...ended,
    report: Report,
  }),
  /** The parent goes on without the child: what it was granted stays reserved until its end is known. */
  child_unreached: z.strictObject({ childId, reason: text }),
  /** Obligation to the parent: what became known after the end. */
  usage_reported: z.strictObject({ report: Report }),
  child_usage: z.strictObject({ origin: Origin, childId, report: Report }),
  /** An artifact that the child has registered. */
  child_artifact: z.strictObject({ origin: Origin, childId, artifact: Artifact }),
  /** Obligation to the parent: for a call, for the next turn, or for the request `of` a child. */
  budget_requested: z.strictObject({ want: Amounts, of: z.strictObject({ childId, request: count }).optional() }),
  child_requested_budget: z.strictObject({ origin: Origin, childId, want: Amounts }),
  /** Obligation to the child. `request`: the revision of its request; zeros: refused. */
  budget_granted: z.strictObject({ childId, request: count, grant: Amounts }),
  budget_received: z.strictObject({ origin: Origin, request: count, grant: Amounts }),
  /** Obligations to the child. */
  cancel_forwarded: z.strictObject({ childId, ...ofKind, reason: text.optional(), deadlineMs: z.int().positive() }),
  pause_forwarded: z.strictObject({ childId, reason: text.optional() }),
  resume_forwarded: z.strictObject({ childId }),
  /**
   * Obligations to `target` up to this revision are settled. `accepted`: the rank of the last one that the target has
   * recorded, which is its revision in a stream that has lost nothing; null: none. `bounced`: those that it refused for good.
   * `stays`, of a message: the target goes on and takes other things; absent: it has finished, or does not exist. `again`: the target had
   * lost what it had accepted, and refused it when it was brought again.
   */
  delivered: z.strictObject({
    target: name,
    upTo: count,
    accepted: count.nullable(),
    bounced: z.array(z.strictObject({ revision: count, reason: text, stays: z.literal(true).optional() })),
    again: z.literal(true).optional(),
  }),
} as const
