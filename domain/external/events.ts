import { z } from 'zod'
import { AgentSpec, Budget, Price } from '../agent/definition/spec.ts'
import { Block } from '../agent/events/content.ts'
import { argumentsSalt, PlannedCall } from '../agent/events/event-parts.ts'
import { bodies as calls } from '../agent/events/events.ts'
import { Origin, treeEvents } from '../agent/events/tree.ts'
import type { StreamEvent } from '../stream/aggregate.ts'
import { ERASURE_VERSION, erasureEvents } from '../stream/erasure.ts'
import { StoredAgentEvent } from './agent-event.ts'
import { BATCH } from './batch.ts'
import { Confinement } from './confinement.ts'
import { Outcome } from './outcome.ts'
import { Usage } from './usage.ts'

// These names and shapes are the storage format. A change of a shape is a new version and an upcaster, never an edit.

const text = z.string().min(1)
const count = z.int().nonnegative()

/** A request as it is stored: redacted, and of the environment the names alone. */
export const RecordedRequest = z.strictObject({
  prompt: z.string(),
  workingDir: z.string().optional(),
  timeoutMs: z.int().positive().optional(),
  envNames: z.array(text).optional(),
  extensions: z.record(z.string(), z.json()).optional(),
  /** The name under which it was spawned. */
  name: z.string().min(1).optional(),
  /** Limits of what the run may use; the process is ended when a report of its use is above one. */
  budget: Budget.optional(),
  /** Of the model that the request names: what the run costs where its backend reports tokens alone. */
  price: Price.optional(),
})
export type RecordedRequest = z.infer<typeof RecordedRequest>

export const bodies = {
  /** First event of the stream. `parent`: the call of keepup's own agent that delegated the run; `depth`: this run's. With an
   * origin the parent delegated it by that event, and is owed its end. */
  external_started: z.strictObject({
    backend: text,
    request: RecordedRequest,
    capabilities: z.array(text),
    parent: z
      .strictObject({
        ...{ agentId: text, toolCallId: text, depth: z.int().positive(), role: text.optional() },
        /** Quality gates of the role, which another agent passes none of. */
        gates: z.array(text).min(1).optional(),
      })
      .optional(),
    origin: Origin.optional(),
    /** keepup's own tools that the agent may call while it runs, with the rules of these calls; absent: none. */
    tools: z.strictObject({ spec: AgentSpec, argumentsSalt }).optional(),
  }),
  driver_claimed: z.strictObject({
    driverId: text,
    epoch: z.int().positive(),
    minReader: z.int().positive(),
    build: text,
  }),
  /** The intent: under this epoch the process may be started, once. `confinement` is absent for a backend without a process. */
  process_start: z.strictObject({ epoch: z.int().positive(), confinement: Confinement.optional() }),
  /** `first`: the index of the batch's first agent event in the run, from 0. */
  agent_events: z.strictObject({ first: count, events: z.array(StoredAgentEvent).min(1).max(BATCH.events) }),
  /** The backend's own id of the session, to resume or fork it. */
  session_known: z.strictObject({ sessionId: text }),
  usage_reported: Usage,
  /** The files of the working folder, kept as a version: before the process is started, and after it has ended. */
  files_versioned: z.union([
    z.strictObject({ when: z.enum(['before', 'after']), tree: text }),
    z.strictObject({ when: z.enum(['before', 'after']), tree: z.null(), unversioned: text }),
  ]),
  /** The agent asks leave for what it is to do, and waits. `toolCallId`: ours, by which it is decided. */
  permission_requested: z.strictObject({ toolCallId: text, toolName: text, input: z.json(), reason: z.string() }),
  /** The actor is the approver. `argumentsHash`: the hash of the body that was decided on. */
  permission_decided: z.strictObject({
    toolCallId: text,
    argumentsHash: text,
    decision: z.enum(['approved', 'rejected']),
    reason: text.optional(),
  }),
  /** A call of one of keepup's own tools, as it was judged: in the shape of an answer of a model that asks for this call alone. */
  tool_call_requested: z.strictObject({ content: z.tuple([Block]), calls: z.tuple([PlannedCall]) }),
  tool_call_start: calls.tool_call_start,
  tool_call_intent: calls.tool_call_intent,
  tool_call_retry: calls.tool_call_retry,
  tool_call_unknown: calls.tool_call_unknown,
  tool_call_end: calls.tool_call_end,
  approval_requested: calls.approval_requested,
  approval_decided: calls.approval_decided,
  approval_expired: calls.approval_expired,
  cancel_requested: z.strictObject({ reason: text.optional(), origin: Origin.optional() }),
  external_ended: Outcome,
  /** The outcome of a run whose end was recorded as unknown. */
  outcome_learned: Outcome,
  /** What is owed to the parent was brought to it. */
  delivered: treeEvents.delivered,
  ...erasureEvents,
} as const

export type ExternalEventType = keyof typeof bodies
export type BodyOf<T extends ExternalEventType> = z.infer<(typeof bodies)[T]>

/** The current version of each type. */
export const versions: Readonly<Record<ExternalEventType, number>> = {
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
  approval_decided: 1,
  approval_expired: 1,
  cancel_requested: 1,
  external_ended: 1,
  outcome_learned: 1,
  delivered: 1,
  residue: ERASURE_VERSION,
  erased: ERASURE_VERSION,
}

/** A decoded event of an external run. `runId`: its own id, or the run of the agent that delegated it. */
export type ExternalEvent = {
  readonly [T in ExternalEventType]: StreamEvent & {
    readonly type: T
    readonly body: BodyOf<T>
    readonly agentId: string
    readonly runId: string
  }
}[ExternalEventType]
