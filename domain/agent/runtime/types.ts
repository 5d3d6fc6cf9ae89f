import type { Actor, SealedEvent } from '../../log/envelope.ts'
import type { Head } from '../../ports/index.ts'
import type { ErasableBody, ErasureChoice } from '../../stream/runtime/erasure/types.ts'
import type { StreamProof } from '../../stream/runtime/proof.ts'
import type { PersonCommand } from '../decide/commands.ts'
import type { AgentSpec, Budget } from '../definition/spec.ts'
import type { ToolSpec } from '../definition/tools.ts'
import type { Message } from '../events/content.ts'
import type { BodyOf } from '../events/events.ts'
import type { PointFacts } from '../state/point-details.ts'
import type { AgentState } from '../state/state.ts'
import type { PermittedCall } from './history/permitted-calls.ts'
import type { RebuiltRequest } from './history/rebuild-request.ts'
import type { RecordedDecision } from './history/routing-decisions.ts'

/** The asking person, and the key by which a repeated request is recognised. */
export interface Request {
  readonly by: Actor
  /**
   * Idempotency-Key; a fresh one is drawn where it is absent. The same request under it is recorded once, another one is
   * refused with `IDEMPOTENCY_KEY_REUSED`.
   */
  readonly key?: string
  /** The content of a request that its key stands for, as JSON; the command where it is absent. */
  readonly asked?: unknown
  /** The revision that the agent must still be at; what was recorded under the key before is found again all the same. */
  readonly expected?: number
  /**
   * It is to be driven by this process then: refused as {@link AgentServices.drive} would be, but found again all the
   * same where it was recorded under the key before.
   */
  readonly toDrive?: boolean
  /**
   * The caller's own name for what it set going, of 1 to 128 characters without control characters; the request's command
   * id where it is absent. It stands in the headers of all that follows, and no erasure takes it away: name no
   * person in it.
   */
  readonly correlationId?: string
  /** W3C `traceparent`; left out where it is none. */
  readonly trace?: string
}

/** The result of a command. */
export interface Executed {
  /** The revision that the agent is at. */
  readonly revision: number
  /** False: it had been recorded before, or there was nothing to do. */
  readonly recorded: boolean
  /** A driver has held the agent before. */
  readonly claimed: boolean
}

export type { ErasableBody, ErasureChoice }

export interface ForkOptions {
  /** Its own id; drawn where it is absent. */
  readonly runId?: string
  readonly workspace?: { readonly path: string; readonly tree: string | null }
  readonly model?: string
  readonly maxTurns?: number
  /** Its own: what its source has spent is not counted. What is not named stays as the source had it. */
  readonly budget?: Partial<Budget>
  /** It takes the recorded outcomes of its source as long as it asks for the same; they are neither performed nor billed. */
  readonly reuse?: true
  /** It is to be driven, also by a driver that comes later. */
  readonly drive?: true
}

/** Where a run stands when its driver has nothing left to do. */
export type DriveEnd =
  | { readonly end: 'done' }
  | { readonly end: 'error'; readonly code: string; readonly error: string }
  | {
      readonly end: 'waiting'
      readonly for: 'input' | 'approval' | 'doubt' | 'pause'
      /** Calls of all agents of the run that wait for a person. */
      readonly toolCallIds: readonly string[]
      /** The agent that waits, where the root of the run does not. */
      readonly agentId?: string
    }
  /** It was drained, or the signal aborted and what was at work was broken off; another drive goes on from there. */
  | { readonly end: 'interrupted' }
  /** Another driver took the agent. */
  | { readonly end: 'overtaken'; readonly epoch: number }

/** A point of an agent's history; the head where nothing is named. */
export type At = { readonly step: number } | { readonly revision: number } | { readonly turn: number } | null

/** An agent's folded state at a point, with the messages the model would see there. */
export interface AgentAt {
  readonly state: AgentState
  readonly head: Head
  readonly messages: readonly Message[]
  readonly facts: PointFacts
}

/** Where the value of a context variable was written. */
export interface Writer {
  readonly agentId: string
  readonly revision: number
}

/** {@link AgentAt} without the messages. `writers`: by the name of the variable. */
export interface AgentBrief extends Omit<AgentAt, 'messages'> {
  readonly writers: Readonly<Record<string, Writer>>
}

/** How far a fork has followed the record of the run that it was made of (seed 000, 5.9). */
export interface ReusedRecord {
  /** The agent whose record it is. */
  readonly source: string
  /** Outcomes that were taken: of models, and of calls. */
  readonly models: number
  readonly tools: number
  /** Where it left the record, and why; null: it has not. */
  readonly left:
    | (Pick<BodyOf<'reuse_ended'>, 'reason' | 'differs'> & {
        readonly revision: number
        readonly turn: number
        /** Null: at a request to the model. */
        readonly toolCallId: string | null
      })
    | null
}

/** The findings of the verification of an agent's stream. */
export interface Verification extends StreamProof {
  readonly agentId: string
}

export interface DriveOptions {
  /** Breaks off what is at work. */
  readonly signal: AbortSignal
  /** Begins nothing new, lets what the log has promised end, and records it. */
  readonly drain?: AbortSignal
  /** An error that it throws ends nothing: the drive goes on, and rejects with it at its end. */
  readonly onEvent?: (event: SealedEvent) => void
  /** False: what another process drives is refused with `RUN_DRIVEN`; else it is waited for, where there is any. */
  readonly waits?: boolean
}

/** The operations of the runtime: everything that api offers goes through these. */
export interface AgentServices {
  /**
   * Records a command; drives nothing. Rejects with CommandRejected (REVISION_CHANGED where the agent is no longer at the
   * expected revision), ContentionError or LogError.
   */
  execute(agentId: string, command: PersonCommand, request: Request): Promise<Executed>
  /**
   * Tells the agent how these tools are offered now: its open approvals of tools that have become other ones are void, and
   * are asked for anew or end their calls. Returns whether there were any. Drives nothing; rejects with LogError. `folder`:
   * only agents that work there have these tools; null: all agents.
   */
  toolsOffered(agentId: string, tools: readonly ToolSpec[], folder: string | null): Promise<boolean>
  /**
   * The bodies that an erasure of these would empty, in order, and the revision that the agent is at. Records nothing;
   * rejects as the erasure itself does, with CommandRejected or LogError.
   */
  erasable(agentId: string, which: ErasureChoice): Promise<{ revision: number; bodies: readonly ErasableBody[] }>
  /** A new run id. */
  newRunId(): string
  /**
   * Drives the run of the agent: claims the root and the agents below it, performs what is owed, and brings what they owe
   * each other, until the run ends or each of its agents waits. Rejects, having recorded nothing of the agent that it is
   * about, with CommandRejected: TOOLS_MISSING where an agent has tools that are not here, else RUN_UNKNOWN.
   */
  drive(agentId: string, options: DriveOptions): Promise<DriveEnd>
  /** Rejects, before a fork of the agent is made, as a {@link drive} of the fork would. */
  forkDrivable(source: string): Promise<void>
  /** Tools of an agent that are not here: only a program that has them can drive it. */
  missingTools(spec: Pick<AgentSpec, 'tools'>): string[]
  at(agentId: string, at: At): Promise<AgentAt>
  /** The folded state at a point, and nothing else of it. */
  stateAt(agentId: string, at: At): Promise<Pick<AgentAt, 'state' | 'head'>>
  /** The agent at a point without its messages, at a cost that does not grow with its history. */
  brief(agentId: string, at: At): Promise<AgentBrief>
  /** A new agent whose history up to `at` is the source's. Asked again under its id and key it is the same one. */
  fork(source: string, at: At, options: ForkOptions, request: Request): Promise<{ runId: string }>
  verify(agentId: string): Promise<Verification>
  /** How far a fork has followed the record of its source; null: it takes nothing from one. */
  reused(agentId: string): Promise<ReusedRecord | null>
  /** The requests to the model in a turn, rebuilt from the log; an entry per attempt. */
  requests(agentId: string, turn: number): Promise<RebuiltRequest[]>
  /** Which models the turn was routed to, and why (seed 000, 5.7.2). Rejects with POINT_UNKNOWN. */
  routing(agentId: string, turn: number): Promise<RecordedDecision[]>
  /** The calls of a turn that ran by a person's permission. */
  permitted(agentId: string, turn: number): Promise<PermittedCall[]>
}
