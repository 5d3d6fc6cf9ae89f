import { z } from 'zod'
import { SeenFile } from '../../calls/question.ts'
import type { Actor } from '../../log/envelope.ts'
import { erasureEvents } from '../../stream/erasure.ts'
import { AgentSpec } from '../definition/spec.ts'
import { Effect, ToolMeaning } from '../definition/tools.ts'
import { RoutingDecision } from '../routing/decision.ts'
import { taskEvents } from '../tasks/events.ts'
import { CutSegment } from '../window/segment.ts'
import { CUTS } from './answer-bounds.ts'
import { Block, Usage } from './content.ts'
import { contextEvents } from './context.ts'
import { endEvents } from './ends.ts'
import {
  ArgumentsRef,
  Artifact,
  Attachment,
  argumentsSalt,
  count,
  Failure,
  Hash,
  Instant,
  Json,
  oneOutcome,
  outcome,
  PlannedCall,
  Purpose,
  text,
} from './event-parts.ts'
import { drive, forked } from './forked.ts'
import { lossEvents } from './loss.ts'
import { messageEvents } from './messages.ts'
import { permissionEvents } from './permissions.ts'
import { restoreEvents } from './restores.ts'
import { Place, ReusedAnswer, reuseEvents } from './reuse.ts'
import { born, treeEvents } from './tree.ts'

// These names and shapes are the storage format. To change a shape, add a version and an upcaster; never edit it.

export { ArgumentsRef, Artifact, Attachment, Failure, PlannedCall }

export const bodies = {
  /** First event of an agent's stream. */
  agent_started: z.strictObject({ spec: AgentSpec, depth: count, argumentsSalt, drive, ...born }),
  /** First event of a fork. */
  forked,
  driver_claimed: z.strictObject({
    driverId: text,
    epoch: z.int().positive(),
    minReader: z.int().positive(),
    build: text,
  }),
  user_input: z.strictObject({ text: z.string().min(1) }),
  /** `unread`: the number of inputs that this turn reads. */
  turn_start: z.strictObject({ unread: count }),
  model_routed: RoutingDecision,
  /** The system prompt of later requests. */
  prompt_set: z.strictObject({ system: text }),
  /**
   * The tools of later requests by name, in order; `agent_started` defines them. `choice`: `any` requires a call, a
   * name requires a call of that tool, `auto` requires none. `parallel`: one answer may contain several calls.
   */
  tools_changed: z.strictObject({
    offered: z.array(z.string().min(1)),
    choice: z.union([z.enum(['any', 'auto']), z.strictObject({ name: z.string().min(1) })]),
    parallel: z.boolean(),
  }),
  /**
   * The intent of a model call. The request is not stored: the runtime reassembles it from the state and messages at
   * `revision`. `prompt` and `tools`: revisions of the `prompt_set` and `tools_changed` in force. `inputs`: SHA-256
   * over all inputs of the assembler (domain/agent/window/request.ts).
   */
  model_call_start: z.strictObject({
    attempt: z.int().positive(),
    purpose: Purpose,
    model: text,
    request: z.strictObject({
      assembler: z.int().positive(),
      revision: count,
      prompt: count,
      tools: count,
      inputs: Hash,
      /** The segments to summarize. Absent for turns, which show the segments in force. */
      segments: z.array(CutSegment).optional(),
    }),
    estimate: z.strictObject({ input: count, maxOutput: count, nanoDollars: count.nullable() }),
    timeoutMs: z.int().positive(),
  }),
  model_call_end: z.strictObject({
    attempt: z.int().positive(),
    purpose: Purpose,
    content: z.array(Block),
    stopReason: z.enum(['tool_use', 'end_turn', 'max_tokens', 'pause_turn', 'refusal']),
    usage: Usage,
    nanoDollars: count.nullable(),
    durationMs: count,
    servedBy: text,
    requestId: text.optional(),
    calls: z.array(PlannedCall),
    /** The bound at which the answer was cut off. Absent: the answer is complete, or the provider cut it. */
    cut: z.enum(CUTS).optional(),
    /**
     * The answer came from the request cache: the usage of the original answer. `usage`, which is billed, is then 0.
     */
    cached: Usage.optional(),
    /**
     * Input tokens by the runtime's own estimate. Present only where the provider reports far fewer and the estimate
     * matters for compression. The bill uses `usage`.
     */
    inputEstimate: count.optional(),
    /** The answer was copied from the record; no provider was asked, and `usage` is 0. */
    reused: ReusedAnswer.optional(),
  }),
  /** The rate limit of the provider's key delays the attempt. The delay does not count as work time. */
  model_held: z.strictObject({ attempt: z.int().positive(), delayMs: count }),
  /** The driver of the attempt died. Its usage is an estimate and uncertain on the bill. */
  model_attempt_lost: z.strictObject({
    attempt: z.int().positive(),
    purpose: Purpose,
    usage: Usage,
    nanoDollars: count.nullable(),
  }),
  /** The provider's answer to an abandoned attempt. Its usage replaces the estimate. */
  model_late: z.strictObject({
    attempt: z.int().positive(),
    purpose: Purpose,
    usage: Usage,
    nanoDollars: count.nullable(),
    servedBy: text,
    requestId: text.optional(),
  }),
  /** `intent`: no approval is needed; the call runs now. `index`: among the planned calls of the answer. */
  tool_call_start: z.strictObject({
    toolName: text,
    index: count,
    argumentsRef: ArgumentsRef,
    argumentsHash: Hash,
    attempt: z.int().positive(),
    effect: Effect,
    intent: z.boolean(),
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
  tool_call_unknown: z.strictObject({ attempt: z.int().positive(), reason: text, reused: Place.optional() }),
  /** A person's decision on an unknown outcome. */
  tool_call_resolved: z.strictObject({
    decision: z.enum(['happened', 'run', 'abandon']),
    result: Json.optional(),
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
      detail: z.record(z.string(), Json).optional(),
      /** By document id: frontiers of the documents that the call read or changed. */
      documents: z.record(z.string(), z.string()).optional(),
      /** The recorded end that this one was copied from. */
      reused: Place.optional(),
    })
    .refine(...oneOutcome),
  /**
   * The outcome of an abandoned call, or of a call whose run had ended. It changes only what is known about the call.
   * The event names no cause, because the state no longer contains the call; call id and attempt identify the intent.
   */
  late_outcome: z.strictObject(outcome).refine(...oneOutcome),
  /**
   * The workspace files after calls that may have changed them: a shadow tree, or why there is none. The files at a
   * step are those of the first version with this step or a greater one, if a call was waiting for a version at that
   * step; otherwise those of the last version before. A turn ends only after its version.
   */
  workspace_versioned: z.union([
    z.strictObject({ step: z.int().positive(), tree: text }),
    z.strictObject({ step: z.int().positive(), unversioned: Failure }),
  ]),
  turn_end: z.strictObject({
    step: z.int().positive(),
    outcome: z.enum(['calls', 'text', 'cut', 'paused', 'refused', 'failed', 'cancelled']),
  }),
  approval_requested: z.strictObject({
    toolName: text,
    argumentsRef: ArgumentsRef,
    argumentsHash: Hash,
    expiresAt: Instant,
    reason: text,
  }),
  /**
   * The actor is the approver. `argumentsHash` identifies the approved arguments, `questionHash` the question as shown
   * to the approver. `files`: the content of the files that the approval depends on; the call does not run if one has
   * changed.
   */
  approval_decided: z.strictObject({
    decision: z.enum(['approved', 'rejected']),
    argumentsHash: Hash,
    questionHash: Hash.optional(),
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
  /** The value is `value` in the referenced arguments, or is stored here if no arguments contain it. */
  context_set: z.union([
    z.strictObject({ key: z.string().min(1), argumentsRef: ArgumentsRef }),
    z.strictObject({ key: z.string().min(1), value: Json }),
  ]),
  artifact_registered: z.strictObject({ artifact: Artifact }),
  gate_checked: z.strictObject({ gate: text, after: text, passed: z.boolean(), evidence: text }),
  phase_advanced: z.strictObject({ from: text, to: text, summary: text }),
  ...endEvents,
  step_requested: z.strictObject({}),
  /**
   * Records the key of an idempotent request that had nothing to do, so that a repeated request does nothing either.
   */
  request_noted: z.strictObject({ request: text }),
  ...contextEvents,
  ...treeEvents,
  ...messageEvents,
  ...lossEvents,
  ...reuseEvents,
  ...permissionEvents,
  ...taskEvents,
  ...restoreEvents,
  /** On resume, files had changed since the last step. */
  workspace_drifted: z.strictObject({ expected: text, found: text, changed: z.array(text) }),
  ...erasureEvents,
} as const

export type EventType = keyof typeof bodies
export type BodyOf<T extends EventType> = z.infer<(typeof bodies)[T]>

/** The current version of every stored type. Upcasters convert older bodies. */
export const versions: Readonly<Record<EventType, number>> = Object.fromEntries(
  Object.keys(bodies).map((type) => [type, 1]),
) as Record<EventType, number>

/** An event as the fold receives it: decoded and upcast to the current version. `at`: ms. */
export interface EventOf<T extends EventType> {
  readonly type: T
  readonly body: BodyOf<T>
  readonly revision: number
  readonly at: number
  readonly turn: number
  readonly agentId: string
  readonly runId: string
  readonly commandId: string
  readonly actor: Actor
  readonly bodyHash: string
  /** Size of the body in bytes. */
  readonly size: number
  readonly toolCallId?: string
  readonly causationId?: string
  readonly correlationId?: string
  readonly driver?: { readonly id: string; readonly epoch: number }
}

export type AgentEvent = { [T in EventType]: EventOf<T> }[EventType]
