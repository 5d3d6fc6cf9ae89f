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

// These names and shapes are the storage format. A change of a shape is a new version and an upcaster, never an edit.

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
  /** `unread`: how many inputs are read at this turn's start. */
  turn_start: z.strictObject({ unread: count }),
  model_routed: RoutingDecision,
  /** The system prompt of the following requests. */
  prompt_set: z.strictObject({ system: text }),
  /**
   * The tools of the following requests, by name, in order; `agent_started` defines them. `choice`: a call is required
   * (`any`), this one is, or none (`auto`). `parallel`: one answer may hold several calls.
   */
  tools_changed: z.strictObject({
    offered: z.array(z.string().min(1)),
    choice: z.union([z.enum(['any', 'auto']), z.strictObject({ name: z.string().min(1) })]),
    parallel: z.boolean(),
  }),
  /**
   * The intent of a model call. The request is not stored: it is assembled again from the state at `revision` and the
   * messages up to there. `prompt` and `tools`: revisions of the `prompt_set` and `tools_changed` in force. `inputs`:
   * SHA-256 over all inputs of the assembler (domain/agent/window/request.ts).
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
      /** The parts that a summary is made of; absent for turns, which show the segments in force. */
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
    /** The bound at which the answer was cut off; absent: it is whole, or the provider cut it. */
    cut: z.enum(CUTS).optional(),
    /** From the request cache: what it took when the provider gave it. `usage`, which is billed, is 0 then. */
    cached: Usage.optional(),
    /** Taken from the record: no provider was asked, and `usage` is 0. */
    reused: ReusedAnswer.optional(),
  }),
  /** Not made: the rate limit of the provider's key holds it back. The run's time stands still meanwhile. */
  model_held: z.strictObject({ attempt: z.int().positive(), delayMs: count }),
  /** An attempt whose driver died: its tokens are estimated and in doubt on the bill. */
  model_attempt_lost: z.strictObject({
    attempt: z.int().positive(),
    purpose: Purpose,
    usage: Usage,
    nanoDollars: count.nullable(),
  }),
  /** The provider's answer to an attempt that had been given up: its usage takes the place of the estimate. */
  model_late: z.strictObject({
    attempt: z.int().positive(),
    purpose: Purpose,
    usage: Usage,
    nanoDollars: count.nullable(),
    servedBy: text,
    requestId: text.optional(),
  }),
  /** `intent`: nothing is awaited, the call runs now. `index`: its place among the planned calls of the answer. */
  tool_call_start: z.strictObject({
    toolName: text,
    index: count,
    argumentsRef: ArgumentsRef,
    argumentsHash: Hash,
    attempt: z.int().positive(),
    effect: Effect,
    intent: z.boolean(),
    /** Its outcome is taken from the record. */
    reused: z.literal(true).optional(),
    /** The permission that lifts the policy's refusal of it: the call that had asked for it. */
    permission: text.optional(),
  }),
  /** The intent of a call that had to wait for an approval. */
  tool_call_intent: z.strictObject({ attempt: z.int().positive() }),
  /** `lost`: the driver of the attempt before is gone, so it is none that failed; else `signature` is of its failure. */
  tool_call_retry: z.strictObject({
    attempt: z.int().min(2),
    error: Failure,
    delayMs: count,
    signature: text.optional(),
    lost: z.literal(true).optional(),
  }),
  /** The call's driver died between intent and outcome, and no probe can find out whether the call happened. */
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
      /** The name that the model wrote, where there is no such tool. */
      askedName: text.optional(),
      /** Files created by this call (003: pendingCreates). */
      created: z.array(text).optional(),
      changed: z.array(text).optional(),
      /** The call ran the run's test command, which ended so; null: by a signal. Set by the runtime, never by a tool. */
      tested: z.strictObject({ exitCode: z.int().nullable() }).optional(),
      detail: z.record(z.string(), Json).optional(),
      /** Frontiers of the documents that the call has read or changed, by document id. */
      documents: z.record(z.string(), z.string()).optional(),
      /** Taken from the record. */
      reused: Place.optional(),
    })
    .refine(...oneOutcome),
  /**
   * The outcome of a call that had been given up, or whose run had ended. It changes nothing but what is known. The state
   * has left the call behind, so it names no cause: its call and attempt say which intent it is of.
   */
  late_outcome: z.strictObject(outcome).refine(...oneOutcome),
  /**
   * The files as they are after calls that may have changed them: a shadow tree, or why there is none. It serves every
   * checkpoint up to `step` that has none before: the files of a step are those of the first one of these with its step or a
   * greater one, where a call was waiting for it there, and else those of the last one before. A turn ends after it.
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
   * The actor is the approver. `argumentsHash` is what was approved, `questionHash` the question as the approver was shown it,
   * and `files` the content of the files that it rests on: the call does not run where one of them has changed.
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
   * The call was not done: its tool has changed since it was last recorded, or a file has changed since it was approved. `tool`:
   * the changed tool, which counts from here on. `attempt`: the number of the coming attempt.
   */
  approval_voided: z.strictObject({
    attempt: z.int().positive(),
    argumentsHash: Hash,
    reason: text,
    tool: ToolMeaning.optional(),
  }),
  standing_approval: z.strictObject({ tools: z.array(z.string().min(1)).min(1), reason: text.optional() }),
  /** The value is the `value` of these arguments, or stands here where no arguments hold it. */
  context_set: z.union([
    z.strictObject({ key: z.string().min(1), argumentsRef: ArgumentsRef }),
    z.strictObject({ key: z.string().min(1), value: Json }),
  ]),
  artifact_registered: z.strictObject({ artifact: Artifact }),
  gate_checked: z.strictObject({ gate: text, after: text, passed: z.boolean(), evidence: text }),
  phase_advanced: z.strictObject({ from: text, to: text, summary: text }),
  ...endEvents,
  step_requested: z.strictObject({}),
  /** A request under an Idempotency-Key that found nothing to do: made again it must still do nothing. */
  request_noted: z.strictObject({ request: text }),
  ...contextEvents,
  ...treeEvents,
  ...messageEvents,
  ...lossEvents,
  ...reuseEvents,
  ...permissionEvents,
  ...taskEvents,
  ...restoreEvents,
  /** A resume found files changed since the last step. */
  workspace_drifted: z.strictObject({ expected: text, found: text, changed: z.array(text) }),
  ...erasureEvents,
} as const

export type EventType = keyof typeof bodies
export type BodyOf<T extends EventType> = z.infer<(typeof bodies)[T]>

/** Current version of every stored type; an older one goes through its upcasters first. */
export const versions: Readonly<Record<EventType, number>> = Object.fromEntries(
  Object.keys(bodies).map((type) => [type, 1]),
) as Record<EventType, number>

/** An event as the fold sees it: decoded, brought up to the current version. `at` in ms. */
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
  /** Bytes of the body. */
  readonly size: number
  readonly toolCallId?: string
  readonly causationId?: string
  readonly correlationId?: string
  readonly driver?: { readonly id: string; readonly epoch: number }
}

export type AgentEvent = { [T in EventType]: EventOf<T> }[EventType]
