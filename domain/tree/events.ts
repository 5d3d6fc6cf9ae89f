import { z } from 'zod'
import { Artifact } from '../calls/events/event-parts.ts'
import { delivered, Origin } from '../courier/events.ts'
import { count, Hash, text } from '../log/body-parts.ts'

// Events between parent and child. Each is an obligation, which the courier copies into the other stream, or the copy,
// which names its origin. These names and shapes are the storage format.

const name = z.string().min(1)

/** Set if the courier delivered the event. */
const brought = { origin: Origin.optional() }

/** Members of an agent that another agent started. `ancestors`: those of its parent, the root first. */
export const born = {
  parent: z.strictObject({ agentId: text, toolCallId: text, ancestors: z.array(name).optional() }).optional(),
  ...brought,
}

/** The three budgets of a tree. They are reserved, settled and topped up alike. */
export const Amounts = z.strictObject({ tokens: count, nanoDollars: count, agents: count })
export type Amounts = z.infer<typeof Amounts>

/**
 * The budget of a child at its birth; null: the parent has no limit of this kind. `agents` includes the child itself.
 */
export const Grant = z.strictObject({
  tokens: z.int().positive().nullable(),
  nanoDollars: z.int().positive().nullable(),
  agents: z.int().positive(),
})
export type Grant = z.infer<typeof Grant>

/**
 * Usage of an agent and its descendants since the last report. A correction of a too high estimate makes a member
 * negative. `uncertain`: the most that outstanding answers and running agents may still add.
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
/** The child is an external agent. */
const ofKind = { external: z.literal(true).optional() }
const ended = { status: z.enum(['completed', 'failed']), code: name.optional() }

export const treeEvents = {
  /** Requested by a person, or passed down from the parent. */
  paused: z.strictObject({ reason: text.optional(), ...brought }),
  resumed: z.strictObject(brought),
  cancel_requested: z.strictObject({ reason: text.optional(), deadlineMs: z.int().positive(), ...brought }),
  /** Obligation to the new child. `tree`: the workspace files as the parent knows them. */
  child_delegated: z.strictObject({
    childId,
    role: name,
    task: name,
    constraints: z.array(name),
    expectedOutput: name.optional(),
    grant: Grant,
    tree: z.string().nullable(),
    /** Only for an external agent: its kind, and the extensions that grant its rights. */
    backend: z
      .strictObject({
        kind: name,
        extensions: z.record(z.string(), z.json()),
        /** The keepup tools that it may call; absent: none. */
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
  /** The parent's record of a child's end. `head`: the end of the child's stream; a shorter stream has lost its end. */
  child_ended: z.strictObject({
    origin: Origin,
    childId,
    head: z.strictObject({ revision: count, hash: Hash }),
    ...ended,
    report: Report,
  }),
  /** The parent continues without the child. The child's grant stays reserved until its end is known. */
  child_unreached: z.strictObject({ childId, reason: text }),
  /** Obligation to the parent: usage that became known after the end. */
  usage_reported: z.strictObject({ report: Report }),
  child_usage: z.strictObject({ origin: Origin, childId, report: Report }),
  child_artifact: z.strictObject({ origin: Origin, childId, artifact: Artifact }),
  /** Obligation to the parent: asks for budget for a call, for the next turn, or for the request `of` a child. */
  budget_requested: z.strictObject({ want: Amounts, of: z.strictObject({ childId, request: count }).optional() }),
  child_requested_budget: z.strictObject({ origin: Origin, childId, want: Amounts }),
  /** Obligation to the child. `request`: the revision of its request. Zeros: refused. */
  budget_granted: z.strictObject({ childId, request: count, grant: Amounts }),
  budget_received: z.strictObject({ origin: Origin, request: count, grant: Amounts }),
  /** Obligations to the child. */
  cancel_forwarded: z.strictObject({ childId, ...ofKind, reason: text.optional(), deadlineMs: z.int().positive() }),
  pause_forwarded: z.strictObject({ childId, reason: text.optional() }),
  resume_forwarded: z.strictObject({ childId }),
  delivered,
} as const

export type ReportedEnd = z.infer<typeof treeEvents.end_reported>
