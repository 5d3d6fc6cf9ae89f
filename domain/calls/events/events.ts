import { z } from 'zod'
import { AnyJsonValue, count, EventPlace, Hash, Instant, text } from '../../log/body-parts.ts'
import { Decided } from '../decided.ts'
import { SeenFile } from '../question-hash.ts'
import { Effect, ToolMeaning } from '../tools/tool-spec.ts'
import { ArgumentsRef, Failure, oneOutcome, outcome } from './event-parts.ts'

// Events of calls and their approvals, in the streams of every kind that calls tools. These names and shapes are the
// storage format. To change a shape, add a version and an upcaster; never edit it.

export const callEvents = {
  /** `intent`: no approval is needed; the call runs now. `index`: among the planned calls of the answer. */
  tool_call_start: z.strictObject({
    toolName: text,
    index: count,
    argumentsRef: ArgumentsRef,
    argumentsHash: Hash,
    attempt: z.int().positive(),
    effect: Effect,
    intent: z.boolean(),
    /** How the call was allowed, or refused by the policy. Absent: a person decides, or another rule refused it. */
    decided: Decided.optional(),
    /** The outcome is copied from the record. */
    reused: z.literal(true).optional(),
    /** The permission that lifts the policy's refusal: the id of the call that asked for it. */
    permission: text.optional(),
  }),
  /** The intent of a call that had to wait for an approval. */
  tool_call_intent: z.strictObject({ attempt: z.int().positive() }),
  /**
   * `lost`: the driver of the previous attempt died, so that attempt does not count as a failure. `signature`: of the
   * previous attempt's failure, if it failed.
   */
  tool_call_retry: z.strictObject({
    attempt: z.int().min(2),
    error: Failure,
    delayMs: count,
    signature: text.optional(),
    lost: z.literal(true).optional(),
  }),
  /** The driver died between intent and outcome, and no probe can determine whether the call happened. */
  tool_call_unknown: z.strictObject({ attempt: z.int().positive(), reason: text, reused: EventPlace.optional() }),
  /** A person's decision on an unknown outcome. */
  tool_call_resolved: z.strictObject({
    decision: z.enum(['happened', 'run', 'abandon']),
    result: AnyJsonValue.optional(),
    reason: text.optional(),
  }),
  tool_call_end: z
    .strictObject({
      step: z.int().positive(),
      ...outcome,
      /** The name that the model wrote; present only for an unknown tool. */
      askedName: text.optional(),
      /** Files created by this call (003: pendingCreates). */
      created: z.array(text).optional(),
      changed: z.array(text).optional(),
      /** Set by the runtime if the call ran the run's test command. `exitCode` null: a signal ended it. */
      tested: z.strictObject({ exitCode: z.int().nullable() }).optional(),
      detail: z.record(z.string(), AnyJsonValue).optional(),
      /** By document id: frontiers of the documents that the call read or changed. */
      documents: z.record(z.string(), z.string()).optional(),
      /** The recorded end that this one was copied from. */
      reused: EventPlace.optional(),
    })
    .refine(...oneOutcome),
  /**
   * The outcome of an abandoned call, or of a call whose run had ended. It changes only what is known about the call.
   * The event names no cause, because the state no longer contains the call; call id and attempt identify the intent.
   */
  late_outcome: z.strictObject(outcome).refine(...oneOutcome),
} as const

export const approvalEvents = {
  approval_requested: z.strictObject({
    toolName: text,
    argumentsRef: ArgumentsRef,
    argumentsHash: Hash,
    expiresAt: Instant,
    reason: text,
    /** How many people must approve; absent: one. */
    approvers: z.int().min(2).max(9).optional(),
  }),
  /**
   * One of several people approves; the call waits for the others. The last approval is an `approval_decided`. The actor
   * is the approver. `question`: the hash of the question with its files, under the salt of hashes; approvals of other
   * questions do not count. `lapsed`: people whose earlier approvals do not count any more. For a call with an unknown
   * outcome, the last approval is a `tool_call_resolved`.
   */
  approval_supported: z.strictObject({
    decided: Decided,
    argumentsHash: Hash,
    question: Hash,
    lapsed: z.array(z.string().min(1)).min(1).optional(),
    reason: text.optional(),
  }),
  /**
   * The actor is the approver. `argumentsHash` identifies the approved arguments. `files`: the hash of the content of
   * the files that the approval depends on, under the salt of hashes; the call does not run if one has changed.
   */
  approval_decided: z.strictObject({
    decision: z.enum(['approved', 'rejected']),
    decided: Decided,
    argumentsHash: Hash,
    files: z.array(SeenFile).min(1).optional(),
    reason: text.optional(),
  }),
  approval_expired: z.strictObject({ argumentsHash: Hash }),
  /**
   * The call did not run and its approval is void, because its tool changed since it was last recorded, or a file
   * changed since the approval. `tool`: the changed tool, which applies from here on. `attempt`: the number of the next
   * attempt.
   */
  approval_voided: z.strictObject({
    attempt: z.int().positive(),
    argumentsHash: Hash,
    reason: text,
    tool: ToolMeaning.optional(),
  }),
  standing_approval: z.strictObject({ tools: z.array(z.string().min(1)).min(1), reason: text.optional() }),
} as const

const bodies = { ...callEvents, ...approvalEvents }
export type CallEventType = keyof typeof bodies
export type CallBodies = { readonly [T in CallEventType]: z.infer<(typeof bodies)[T]> }
export type CallBodyOf<T extends CallEventType> = CallBodies[T]
