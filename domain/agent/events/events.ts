import { z } from 'zod'
import { Block, Usage } from '../../calls/content.ts'
import { ArgumentsRef, Artifact, Failure, hashSalt, PlannedCall } from '../../calls/events/event-parts.ts'
import { approvalEvents, callEvents } from '../../calls/events/events.ts'
import { permissionEvents } from '../../calls/events/permissions.ts'
import { CUTS } from '../../calls/model-call.ts'
import { AnyJsonValue, count, Hash, text } from '../../log/body-parts.ts'
import type { Actor } from '../../log/envelope.ts'
import { erasureEvents } from '../../stream/erasure.ts'
import { born, treeEvents } from '../../tree/events.ts'
import { messageEvents } from '../../tree/message-events.ts'
import { Purpose } from '../../tree/routing-config.ts'
import { AgentSpec } from '../../tree/spec.ts'
import { RoutingDecision } from '../routing/decision.ts'
import { taskEvents } from '../tasks/events.ts'
import { CutSegment } from '../window/segment.ts'
import { contextEvents } from './context.ts'
import { endEvents } from './ends.ts'
import { drive, forked } from './forked.ts'
import { lossEvents } from './loss.ts'
import { restoreEvents } from './restores.ts'
import { ReusedAnswer, reuseEvents } from './reuse.ts'

// These names and shapes are the storage format. To change a shape, add a version and an upcaster; never edit it.

export const agentBodies = {
  /** First event of an agent's stream. */
  agent_started: z.strictObject({ spec: AgentSpec, depth: count, hashSalt, drive, ...born }),
  /** First event of a fork. */
  forked,
  driver_claimed: z.strictObject({
    driverId: text,
    epoch: z.int().positive(),
    minReader: z.int().positive(),
    /** The version of keepup that drives. */
    keepup: text,
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
  ...callEvents,
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
  ...approvalEvents,
  /** The value is `value` in the referenced arguments, or is stored here if no arguments contain it. */
  context_set: z.union([
    z.strictObject({ key: z.string().min(1), argumentsRef: ArgumentsRef }),
    z.strictObject({ key: z.string().min(1), value: AnyJsonValue }),
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

export type EventType = keyof typeof agentBodies
type Bodies = { readonly [T in EventType]: z.infer<(typeof agentBodies)[T]> }
export type BodyOf<T extends EventType> = Bodies[T]

/** The current version of every stored type. Upcasters convert older bodies. */
export const agentVersions: Readonly<Record<EventType, number>> = Object.fromEntries(
  Object.keys(agentBodies).map((type) => [type, 1]),
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
