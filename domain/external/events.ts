import { z } from 'zod'
import { Block } from '../calls/content.ts'
import { Decided } from '../calls/decided.ts'
import { Failure, hashSalt, PlannedCall } from '../calls/events/event-parts.ts'
import { approvalEvents, callEvents } from '../calls/events/events.ts'
import { delivered, Origin } from '../courier/events.ts'
import { Hash } from '../log/body-parts.ts'
import type { StreamEvent } from '../stream/aggregate.ts'
import { ERASURE_VERSION, erasureEvents } from '../stream/erasure.ts'
import { AgentSpec, Budget, Price } from '../tree/spec.ts'
import { StoredAgentEvent } from './agent-event.ts'
import { BATCH } from './batch.ts'
import { Confinement } from './confinement.ts'
import { Hosting, hostedBodies } from './hosted/events.ts'
import { Outcome } from './outcome.ts'
import { ReportedSpan } from './reported/span.ts'
import { ReportedUsage, SessionUsage } from './usage.ts'

// These names and shapes are the storage format. To change a shape, add a new version and an upcaster; never edit a
// version.

const text = z.string().min(1)
const count = z.int().nonnegative()

/** A request as stored: redacted, and with only the names of environment variables. */
export const RecordedRequest = z.strictObject({
  prompt: z.string(),
  workingDir: z.string().optional(),
  timeoutMs: z.int().positive().optional(),
  envNames: z.array(text).optional(),
  extensions: z.record(z.string(), z.json()).optional(),
  /** The name of the run in a spawn. */
  name: z.string().min(1).optional(),
  /** Limits of the run's usage. The run is cancelled when a usage report exceeds one of them. */
  budget: Budget.optional(),
  /** The price of the requested model, for backends that report only tokens. */
  price: Price.optional(),
})
export type RecordedRequest = z.infer<typeof RecordedRequest>

export const externalBodies = {
  /**
   * The first event of the stream. `parent`: the call of a keepup agent that delegated the run; `depth`: the depth of
   * this run. `origin`: the parent's event that delegated the run; with an origin, the run owes its parent a report of
   * its end.
   */
  external_started: z.strictObject({
    backend: text,
    request: RecordedRequest,
    capabilities: z.array(text),
    parent: z
      .strictObject({
        ...{ agentId: text, toolCallId: text, depth: z.int().positive(), role: text.optional() },
        /** Quality gates of the role. An external agent does not run them. */
        gates: z.array(text).min(1).optional(),
      })
      .optional(),
    origin: Origin.optional(),
    /** The keepup tools that the agent may call while it runs, and the rules for these calls. Absent: no tools. */
    tools: z.strictObject({ spec: AgentSpec, hashSalt }).optional(),
    /** The ended run whose session this run continues, and the usage of the session so far. */
    continues: z.strictObject({ agentId: text, used: SessionUsage }).optional(),
    /** A program runs the agent itself, and these rules govern its calls. Absent: a driver runs the agent. */
    hosting: Hosting.optional(),
  }),
  driver_claimed: z.strictObject({
    driverId: text,
    epoch: z.int().positive(),
    minReader: z.int().positive(),
    /** The version of keepup that drives. */
    keepup: text,
  }),
  /**
   * The intent: the driver of this epoch may start the process once. `confinement` is absent for a backend without a
   * process.
   */
  process_start: z.strictObject({ epoch: z.int().positive(), confinement: Confinement.optional() }),
  /** `first`: the index of the batch's first agent event in the run, from 0. */
  agent_events: z.strictObject({ first: count, events: z.array(StoredAgentEvent).min(1).max(BATCH.events) }),
  /** The backend's id of the session, for a resume or a fork. */
  session_known: z.strictObject({ sessionId: text }),
  usage_reported: ReportedUsage,
  /** A version of the working folder's files, taken before the process starts and after it ends. */
  files_versioned: z.union([
    z.strictObject({ when: z.enum(['before', 'after']), tree: text }),
    z.strictObject({ when: z.enum(['before', 'after']), unversioned: Failure }),
  ]),
  /** The agent requests a permission and waits. `toolCallId`: keepup's id for the decision. */
  permission_requested: z.strictObject({ toolCallId: text, toolName: text, input: z.json(), reason: z.string() }),
  /** The actor is the approver. `requestHash`: the body hash of the request that the decision is about. */
  permission_decided: z.strictObject({
    toolCallId: text,
    requestHash: Hash,
    decision: z.enum(['approved', 'rejected']),
    decided: Decided,
    reason: text.optional(),
  }),
  /** A planned call of a keepup tool, in the shape of a model's answer that contains only this call. */
  tool_call_requested: z.strictObject({ content: z.tuple([Block]), calls: z.tuple([PlannedCall]) }),
  tool_call_start: callEvents.tool_call_start,
  tool_call_intent: callEvents.tool_call_intent,
  tool_call_retry: callEvents.tool_call_retry,
  tool_call_unknown: callEvents.tool_call_unknown,
  tool_call_end: callEvents.tool_call_end,
  approval_requested: approvalEvents.approval_requested,
  approval_supported: approvalEvents.approval_supported,
  approval_decided: approvalEvents.approval_decided,
  approval_expired: approvalEvents.approval_expired,
  cancel_requested: z.strictObject({ reason: text.optional(), origin: Origin.optional() }),
  external_ended: Outcome,
  /** The outcome of a run whose recorded outcome was unknown, or of a reported run after a later root span. */
  outcome_learned: Outcome,
  /**
   * Spans that a program reported over OTLP. The actor sent them. Reports arrive late, repeated and in any order; each
   * span is stored once, and once more if it was open. Times in µs from the clock of the program: `fromUs`: the start
   * of the earliest span so far; `toUs`: the end of the latest one, absent before a root has ended.
   */
  spans_reported: z.strictObject({
    spans: z.array(ReportedSpan).min(1).max(BATCH.events),
    fromUs: count,
    toUs: count.optional(),
    /** The number of the run's root span, if it is in this batch. The earliest root that has ended is the run's. */
    root: count.optional(),
    /** The session of the run: the conversation of its earliest span with one, which is in this batch. */
    session: z.strictObject({ n: count, id: text.optional() }).optional(),
    /** Numbers of model calls that contain the same model call, as another instrumentation reports it. They do not count. */
    wrappers: z.array(count).min(1).optional(),
  }),
  ...hostedBodies,
  /** The end of the run was reported to the parent. */
  delivered,
  ...erasureEvents,
} as const

export type ExternalEventType = keyof typeof externalBodies
type Bodies = { readonly [T in ExternalEventType]: z.infer<(typeof externalBodies)[T]> }
export type ExternalBodyOf<T extends ExternalEventType> = Bodies[T]

/** The current version of each type. */
export const externalVersions: Readonly<Record<ExternalEventType, number>> = {
  external_started: 1,
  driver_claimed: 1,
  process_start: 1,
  agent_events: 1,
  session_known: 1,
  usage_reported: 1,
  files_versioned: 1,
  permission_requested: 1,
  permission_decided: 1,
  tool_call_requested: 1,
  tool_call_start: 1,
  tool_call_intent: 1,
  tool_call_retry: 1,
  tool_call_unknown: 1,
  tool_call_end: 1,
  approval_requested: 1,
  approval_supported: 1,
  approval_decided: 1,
  approval_expired: 1,
  cancel_requested: 1,
  external_ended: 1,
  outcome_learned: 1,
  spans_reported: 1,
  model_requested: 1,
  model_outcome: 1,
  transcript_mirrored: 1,
  mirror_gap: 1,
  transcript_deleted: 1,
  delivered: 1,
  residue: ERASURE_VERSION,
  erased: ERASURE_VERSION,
}

/** A decoded event of an external run. `runId`: the run's own id, or the run of the delegating agent. */
export type ExternalEvent = {
  readonly [T in ExternalEventType]: StreamEvent & {
    readonly type: T
    readonly body: ExternalBodyOf<T>
    readonly agentId: string
    readonly runId: string
  }
}[ExternalEventType]
