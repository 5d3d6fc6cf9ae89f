import { z } from 'zod'
import type { Actor } from '../log/envelope.ts'
import { Block, Usage } from './content.ts'
import { AgentSpec, Budget, Limits } from './spec.ts'
import { Effect } from './tools.ts'

// These names and shapes are the storage format. A change of a shape is a new version and an upcaster, never an edit.

/** What JSON text says is JSON: bodies are checked as they were parsed, so that only its absence can be wrong. */
const Json = z.unknown().refine((value) => value !== undefined, 'expected a value') as unknown as z.ZodType<
  z.infer<ReturnType<typeof z.json>>
>
const text = z.string()
const count = z.int().nonnegative()
const purpose = z.enum(['turn', 'summary'])

/** Whoever asked for the run also asked for it to be driven; absent: it waits for somebody to resume it. */
const drive = z.literal(true).optional()

/** A failure as events carry it. */
export const Failure = z.strictObject({ code: z.string().min(1), message: text, rule: text.optional() })
export type Failure = z.infer<typeof Failure>

/**
 * A call's arguments, which are stored once: block `block` of the model's answer at `revision` of the same stream.
 */
const Given = z.strictObject({ revision: count, block: count })
export type Given = z.infer<typeof Given>

export const Artifact = z.strictObject({
  id: z.string().min(1),
  type: z.enum(['file', 'plan', 'report', 'diagram']),
  title: text.optional(),
  path: text.optional(),
  /** Its content is that of item `item` of the `artifacts` in these arguments. */
  given: Given.extend({ item: count }).optional(),
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
  argumentsHash: text,
  /** Real workspace paths that the call touches, for grouping. */
  reads: z.array(text),
  writes: z.array(text),
  effect: Effect,
  /** Set where the call must not run. */
  refused: Failure.optional(),
})
export type PlannedCall = z.infer<typeof PlannedCall>

export const bodies = {
  /** First event of an agent's stream. */
  agent_started: z.strictObject({
    spec: AgentSpec,
    depth: count,
    parent: z.strictObject({ agentId: text, toolCallId: text }).optional(),
    drive,
  }),
  /** First event of a fork: the prefix is read from its source. What a fork may change is named, the rest is inherited. */
  forked: z.strictObject({
    stream: text,
    revision: count,
    hash: text,
    digest: text,
    step: count,
    /** It waits to be told what to do: its source had ended there, or waited itself. */
    waits: z.literal(true).optional(),
    workspace: z.strictObject({ path: z.string().min(1), tree: z.string().nullable() }).nullable(),
    changes: z.strictObject({
      model: text.optional(),
      limits: Limits.partial().optional(),
      budget: Budget.partial().optional(),
    }),
    drive,
  }),
  driver_claimed: z.strictObject({
    driverId: text,
    epoch: z.int().positive(),
    minReader: z.int().positive(),
    build: text,
  }),
  user_input: z.strictObject({ text: z.string().min(1) }),
  /** `unread`: how many inputs are read at this turn's start. */
  turn_start: z.strictObject({ unread: count }),
  model_routed: z.strictObject({
    requested: text,
    resolved: text,
    reason: text,
    policy: z.enum(['cost', 'latency', 'quality']),
    purpose,
  }),
  /** The intent of a model call. The request is rebuilt from the messages in the range and these parameters' hash. */
  model_call_start: z.strictObject({
    attempt: z.int().positive(),
    purpose,
    model: text,
    request: z.strictObject({
      assembler: z.int().positive(),
      /** Ordinals of the messages that were sent, the second exclusive; `root` commits to the bodies that they come from. */
      from: count,
      to: count,
      root: text,
      /** Commits to the messages as they were put into words. */
      rendered: text,
      parameters: text,
    }),
    estimate: z.strictObject({ input: count, maxOutput: count, nanoDollars: count.nullable() }),
    timeoutMs: z.int().positive(),
  }),
  model_call_end: z.strictObject({
    attempt: z.int().positive(),
    purpose,
    content: z.array(Block),
    stopReason: z.enum(['tool_use', 'end_turn', 'max_tokens', 'pause_turn', 'refusal']),
    usage: Usage,
    nanoDollars: count.nullable(),
    durationMs: count,
    servedBy: text,
    requestId: text.optional(),
    calls: z.array(PlannedCall),
    /** How many calls were asked for, where they were too many to be taken up one by one: then `calls` is empty. */
    flood: z.int().positive().optional(),
  }),
  /** An attempt whose driver died: its tokens are estimated and in doubt on the bill. */
  model_attempt_lost: z.strictObject({
    attempt: z.int().positive(),
    purpose,
    usage: Usage,
    nanoDollars: count.nullable(),
  }),
  /** `intent`: nothing is awaited, the call runs now. The arguments are those of the planned call with this index. */
  tool_call_start: z.strictObject({
    toolName: text,
    index: count,
    argumentsHash: text,
    attempt: z.int().positive(),
    effect: Effect,
    intent: z.boolean(),
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
  /** The call's driver died between intent and outcome, and nothing can tell whether it happened. */
  tool_call_unknown: z.strictObject({ attempt: z.int().positive(), reason: text }),
  /** A person's word on an unknown outcome. */
  tool_call_resolved: z.strictObject({
    decision: z.enum(['happened', 'run', 'abandon']),
    result: Json.optional(),
    reason: text.optional(),
  }),
  tool_call_end: z.strictObject({
    step: z.int().positive(),
    toolName: text,
    success: z.boolean(),
    attempt: z.int().positive(),
    durationMs: count,
    result: Json.optional(),
    error: Failure.optional(),
    /** Files created by this call (003: pendingCreates). */
    created: z.array(text).optional(),
    changed: z.array(text).optional(),
    /** The workspace's shadow tree after a call that may have changed it. */
    tree: text.optional(),
    /** Why there is no tree: the call ended as it says, but its files have no version of their own. */
    unversioned: Failure.optional(),
    detail: z.record(z.string(), Json).optional(),
  }),
  /** The outcome of a call that had been given up, or whose run had ended. It changes nothing but what is known. */
  late_outcome: z.strictObject({
    toolName: text,
    success: z.boolean(),
    attempt: z.int().positive(),
    durationMs: count,
    result: Json.optional(),
    error: Failure.optional(),
  }),
  turn_end: z.strictObject({
    step: z.int().positive(),
    outcome: z.enum(['calls', 'text', 'cut', 'paused', 'refused', 'flooded', 'failed', 'cancelled']),
  }),
  approval_requested: z.strictObject({
    toolName: text,
    argumentsHash: text,
    expiresAt: text,
    reason: text,
  }),
  /** The actor is the approver. `argumentsHash` is what was approved. */
  approval_decided: z.strictObject({
    decision: z.enum(['approved', 'rejected']),
    argumentsHash: text,
    reason: text.optional(),
  }),
  approval_expired: z.strictObject({ argumentsHash: text }),
  standing_approval: z.strictObject({ tools: z.array(z.string().min(1)).min(1), reason: text.optional() }),
  /** The value is the `value` of these arguments. */
  context_set: z.strictObject({ key: z.string().min(1), given: Given }),
  artifact_registered: z.strictObject({ artifact: Artifact }),
  gate_checked: z.strictObject({ gate: text, after: text, passed: z.boolean(), evidence: text }),
  phase_advanced: z.strictObject({ from: text, to: text, summary: text }),
  recovery: z.discriminatedUnion('phase', [
    z.strictObject({
      phase: z.literal('final_warning'),
      reason: z.enum(['turns', 'wall_clock', 'budget']),
      maxTurns: z.int(),
      graceTurns: z.int(),
      deadlineMs: z.int(),
      warning: text,
    }),
    z.strictObject({ phase: z.literal('succeeded') }),
    z.strictObject({ phase: z.literal('failed'), reason: text }),
  ]),
  completion: z.strictObject({
    summary: text,
    artifacts: z.array(text),
    nextSteps: text.optional(),
    unmetGates: z.array(text),
    unreadInput: count,
  }),
  /** `recoverable`: a model attempt that failed; otherwise the run ended in ERROR with this code. */
  error: z.strictObject({
    error: text,
    code: text,
    recoverable: z.boolean(),
    attempt: z.int().positive().optional(),
    delayMs: count.optional(),
    partialOutput: text.optional(),
    /** Gates of the role that a run which ended in ERROR had not passed. */
    unmetGates: z.array(text).optional(),
  }),
  paused: z.strictObject({ reason: text.optional() }),
  resumed: z.strictObject({}),
  step_requested: z.strictObject({}),
  /** A request under an Idempotency-Key that found nothing to do: made again it must still do nothing. */
  request_noted: z.strictObject({ request: text }),
  cancel_requested: z.strictObject({ reason: text.optional(), deadlineMs: z.int().positive() }),
  /** A resume found files changed since the last step. */
  workspace_drifted: z.strictObject({ expected: text, found: text, changed: z.array(text) }),
  /** `kept`: what the fold needs of the body, without what anybody said; absent where the body could not be read. */
  erased: z.strictObject({
    revision: count,
    bodyHash: text,
    reason: text,
    kept: z.strictObject({ version: z.int().positive(), body: Json }).optional(),
  }),
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
