import type { Message } from '../../calls/content.ts'
import type { ToolSpec } from '../../calls/tools/tool-spec.ts'
import type { Actor } from '../../log/envelope.ts'
import type { Head } from '../../ports/index.ts'
import type { At } from '../../stream/point.ts'
import type { ErasableBody, ErasureChoice } from '../../stream/runtime/erasure/types.ts'
import type { StreamProof } from '../../stream/runtime/stream-proof.ts'
import type { DriveEnd, DriveOptions } from '../../tree/runtime/drive.ts'
import type { AgentSpec, Budget } from '../../tree/spec.ts'
import type { PersonCommand } from '../decide/commands.ts'
import type { BodyOf } from '../events/events.ts'
import type { PointFacts } from '../state/point-details.ts'
import type { AgentState } from '../state/state.ts'
import type { PermittedCall } from './history/permitted-calls.ts'
import type { RebuiltRequest, RecordedRequest } from './history/rebuild-request.ts'
import type { RecordedDecision } from './history/routing-decisions.ts'
import type { MissingParts } from './missing-parts.ts'

/** The requester, and the key that identifies a repeated request. */
export interface Request {
  readonly by: Actor
  /**
   * Idempotency-Key; absent: a random one. The same request under the key is recorded once; another request is refused
   * with IDEMPOTENCY_KEY_REUSED.
   */
  readonly key?: string
  /** The request content that the key is bound to, as JSON; absent: the command. */
  readonly asked?: unknown
  /** The revision that the agent must still have, unless the request was recorded under the key before. */
  readonly expected?: number
  /**
   * The caller will drive the run here. Refused like {@link AgentServices.drive}, unless the key recorded it before.
   */
  readonly toDrive?: boolean
  /**
   * The caller's id for the work it starts: 1 to 128 characters without control characters; absent: the command id of
   * the request. The headers of all resulting events contain it, and no erasure removes it, so it must not name a
   * person.
   */
  readonly correlationId?: string
  /** W3C `traceparent`; an invalid value is dropped. */
  readonly trace?: string
}

export interface Executed {
  /** The revision of the agent after the command. */
  readonly revision: number
  /** False: recorded before, or nothing to do. */
  readonly recorded: boolean
  /** Whether any driver has claimed the agent before. */
  readonly claimed: boolean
}

export type { ErasableBody, ErasureChoice }

export interface ForkOptions {
  /** The id of the new run; absent: generated. */
  readonly runId?: string
  readonly workspace?: { readonly path: string; readonly tree: string | null }
  readonly model?: string
  readonly maxTurns?: number
  /** The budget of the fork, without the source's spending. Absent members are inherited. */
  readonly budget?: Partial<Budget>
  /** Copies the source's recorded outcomes for equal requests. Copied outcomes are neither performed nor billed. */
  readonly reuse?: true
  /** Drive the fork, also by a driver that starts later. */
  readonly drive?: true
}

/** An agent's folded state at a point, with the messages that the model would see there. */
export interface AgentAt {
  readonly state: AgentState
  readonly head: Head
  readonly messages: readonly Message[]
  readonly facts: PointFacts
}

export interface Writer {
  readonly agentId: string
  readonly revision: number
}

/** {@link AgentAt} without messages. `writers`: by variable name. */
export interface AgentBrief extends Omit<AgentAt, 'messages'> {
  readonly writers: Readonly<Record<string, Writer>>
}

/** How far a fork has followed the record of its source run (seed 000, 5.9). */
export interface ReusedRecord {
  /** The agent whose record the fork follows. */
  readonly source: string
  /** The number of copied outcomes, of models and of calls. */
  readonly models: number
  readonly tools: number
  /** Where and why the fork stopped following the record; null: it has not. */
  readonly left:
    | (Pick<BodyOf<'reuse_ended'>, 'reason' | 'differs'> & {
        readonly revision: number
        readonly turn: number
        /** Null: at a request to the model. */
        readonly toolCallId: string | null
      })
    | null
}

/** The proof of one agent of a run. */
export interface Verification extends StreamProof {
  readonly agentId: string
}

/** The operations of the runtime. The whole API uses this interface. */
export interface AgentServices {
  /**
   * Records a command without driving. Rejects with CommandRejected (REVISION_CHANGED if the agent has left the
   * expected revision), ContentionError or LogError.
   */
  execute(agentId: string, command: PersonCommand, request: Request): Promise<Executed>
  /**
   * Informs the agent of the currently offered tools. Open approvals of changed tools become void: a person is asked
   * again, or the call fails. Returns whether there were any. Does not drive. Rejects with LogError. `folder`: only
   * agents in this workspace have these tools; null: all agents.
   */
  toolsOffered(agentId: string, tools: readonly ToolSpec[], folder: string | null): Promise<boolean>
  /**
   * The bodies that an erasure would empty, in order, and the agent's revision. Records nothing. Rejects with
   * CommandRejected or LogError, like the erasure itself.
   */
  erasable(agentId: string, which: ErasureChoice): Promise<{ revision: number; bodies: readonly ErasableBody[] }>
  newRunId(): string
  /**
   * Drives the run of the agent: claims the root and its descendants, performs their due effects and deliveries, until
   * the run ends or every agent waits. Rejects with CommandRejected: TOOLS_MISSING if this program lacks tools of an
   * agent, PROVIDER_MISSING if it lacks a provider of its models, RUN_DRIVEN, or RUN_UNKNOWN. Nothing is
   * recorded in that agent's stream then.
   */
  drive(agentId: string, options: DriveOptions): Promise<DriveEnd>
  /** Rejects like {@link drive} of a fork would, before the fork is made. `model`: the model that the fork names. */
  forkDrivable(source: string, model?: string): Promise<void>
  /** Parts of an agent that this program lacks. Only a program with these parts can drive the agent. */
  missingParts(spec: Pick<AgentSpec, 'tools' | 'models'>): MissingParts
  at(agentId: string, at: At): Promise<AgentAt>
  stateAt(agentId: string, at: At): Promise<Pick<AgentAt, 'state' | 'head'>>
  /** The agent at a point without its messages, at a cost that does not grow with its history. */
  brief(agentId: string, at: At): Promise<AgentBrief>
  /** A new agent with the source's history up to `at`. A repetition with the same id and key returns the same agent. */
  fork(source: string, at: At, options: ForkOptions, request: Request): Promise<{ runId: string }>
  verify(agentId: string): Promise<Verification>
  /** How far a fork has followed the record of its source; null: the agent copies no recorded outcomes. */
  reused(agentId: string): Promise<ReusedRecord | null>
  /** The requests to the model in a turn, rebuilt from the log, one per attempt. */
  requests(agentId: string, turn: number): Promise<RebuiltRequest[]>
  /** The requests of all turns, in one pass over the history. */
  allRequests(agentId: string): AsyncIterable<RecordedRequest>
  /** The models that the turn was routed to, and why (seed 000, 5.7.2). Rejects with POINT_UNKNOWN. */
  routing(agentId: string, turn: number): Promise<RecordedDecision[]>
  /** The calls of a turn that use a person's permission, including calls that have not run. */
  permitted(agentId: string, turn: number): Promise<PermittedCall[]>
}
