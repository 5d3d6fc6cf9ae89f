import type { ModelHealth } from '../agent/runtime/model-health.ts'
import type { Delivery, SettleDelivery } from '../courier/delivery-commands.ts'
import type { Courier } from '../courier/ledger.ts'
import type { Correspondent } from '../courier/runtime/correspondent.ts'
import type { Json, JsonObject } from '../log/json.ts'
import type { Memories } from '../memory/runtime/memories.ts'
import type { StreamContext } from '../stream/aggregate.ts'
import type { Asking, Submitted, Submitting } from '../stream/runtime/mailbox.ts'
import type { AppendPoint, StreamPorts } from '../stream/runtime/ports.ts'
import type { Family, LoseChild } from '../tree/family.ts'
import type { WorkspaceOrder } from '../tree/runtime/workspace-order.ts'
import type { AgentSpec } from '../tree/spec.ts'
import type { AgentRunHandle, TextsFilter } from './external.ts'
import type { LiveFeed, ModelProvider, RateLimiter, RequestCache, Sandbox, Tool, Workspace } from './index.ts'

/**
 * The boundary that no secret crosses (5.12.5). Replaces secret values with references before text becomes a command.
 * `keep` makes the values of the references durable; await it before each append of redacted text.
 */
export interface SecretBoundary {
  text(text: string): string
  /** Whether the text contains a known secret value. Ignores patterns. */
  holdsKnown(text: string): boolean
  json<T>(value: T): T
  /** Redacts a call's arguments. In `set_context`, the `value` counts as a member named by `key`. */
  arguments(toolName: string, args: JsonObject): JsonObject
  /** Redacts a tool's result, also inside strings that are JSON. */
  result(value: Json): Json
  /** A redactor for text that arrives in pieces. */
  stream(): { push(text: string): string; end(): string }
  /** A redactor for a sequence of texts. */
  texts(): TextsFilter
  keep(): Promise<void>
  /** Loads new secrets. Await before and after each effect, so that they are redacted from then on. */
  refresh(): Promise<void>
  /**
   * Replaces references with values for the execution of a tool. Rejects with ToolError SECRET_UNAVAILABLE if the vault
   * does not have a secret, or the secret was not granted to the destination of the call. `sendsTo`: see ToolSpec.
   */
  resolve(args: JsonObject, toolName: string, sendsTo?: string): Promise<JsonObject>
}

/** The workspace of one run, open while the run is driven. */
export interface Environment {
  readonly workspace: Workspace | null
  readonly sandbox: Sandbox | null
  readonly secrets: SecretBoundary
  /** A tool of the run; undefined: this drive has no tool with that name. */
  tool(name: string): Tool | undefined
  /** Ends processes on this host that a dead driver has left. */
  reap(): Promise<void>
  /** `ends`: the agent has ended and will not use the environment again. */
  close(ends?: boolean): Promise<void>
}

/**
 * A lease that is renewed until it is released or lost. It is an optimisation; the epoch in the log is authoritative.
 */
export interface Lease {
  /** Aborts when another process has the lease, or when the lease could not be renewed in time. */
  readonly lost: AbortSignal
  release(): Promise<void>
}

/** Performs an external agent's calls of keepup's tools. */
export interface ToolDesk {
  readonly ports: RuntimePorts
  /** The environment of the run, with the tools that the agent may call. */
  readonly env: Environment
  /** Whether the parent is paused. While it is, no calls start. */
  paused(): boolean
}

/** Runs of external agents that keepup agents delegate, from the view of a tree. */
export interface DelegatedRuns {
  /**
   * Starts the process of a delegated run, in the working folder that the parent's run has locked. `about`: the secrets
   * to redact in its stream. `desk`: performs its calls of keepup's tools. If the run cannot be started, its end is
   * recorded. Rejects if the run was started before.
   */
  take(agentId: string, about: Pick<AgentSpec, 'secrets' | 'policy'>, desk?: ToolDesk): Promise<AgentRunHandle>
  /** A run that is active in this process. */
  at(agentId: string): AgentRunHandle | undefined
}

/** A delegating agent, with its current state. */
export interface Parent {
  readonly state: {
    readonly agentId: string
    readonly paused: boolean
    readonly spec: AgentSpec
    readonly family: Family
    readonly courier: Courier
  }
}

/** The mailbox of a delegating agent. */
interface ParentMailbox extends Correspondent {
  submit(
    command: Delivery | SettleDelivery | LoseChild,
    asking: Asking<StreamContext>,
    options: Pick<Submitting<never>, 'fact' | 'retry'>,
  ): Promise<Submitted>
}

/** The drive of a tree, from the view of its external agents. */
export interface TreeDrive {
  readonly parents: { with<T>(agentId: string, use: (mailbox: ParentMailbox) => Promise<T>): Promise<T> }
  readonly leases: {
    readonly holdsRun: boolean
    work(parent: Parent['state'], work: () => Promise<void>): Promise<boolean>
  }
  readonly order: Pick<WorkspaceOrder, 'alone'>
  /** Aborts when no new work may start. */
  readonly stopped: AbortSignal
  /** Aborts when running work must end. */
  readonly signal: AbortSignal
  /** Called when an external agent's work has ended. */
  moved(): void
  failed(error: unknown): void
}

/** The external agents of a tree that is being driven. */
export interface DelegatedChildren {
  readonly busy: boolean
  /**
   * Starts and awaits a member's delegated children. Also checks ended children, whose end may not be confirmed as
   * delivered.
   */
  meet(member: Parent): void
  /** Call after an event was recorded for an external agent. */
  notice(childId: string): void
}

/** External agents to which keepup agents delegate. */
export interface DelegatedAgents {
  mailbox(agentId: string, ports: StreamPorts): Correspondent
  children(ports: RuntimePorts, drive: TreeDrive): DelegatedChildren
}

/** The ports of the runtime. */
export interface RuntimePorts extends StreamPorts {
  readonly feed: LiveFeed
  /** The program's version, for claims. */
  readonly build: string
  /** The name of this process among several: a prefix of its driver ids. */
  readonly driver?: string
  /**
   * The maximum number of working agents of a run (default 5). An agent that waits for people or other agents does not
   * count.
   */
  readonly agentsAtOnce?: number
  /**
   * Acquires the right to drive `name` (an agent, a run, or a slot of a run) among several processes. Null: another
   * process has the right. Absent: this process drives alone.
   */
  lease?(name: string): Promise<Lease | null>
  /** Calls name the trace of the request that started the run. Absent: that of the run. */
  readonly adoptsTraces?: boolean
  /** Throws ModelError if the model is not available. */
  provider(modelId: string): ModelProvider
  /** The health of the models that this process calls; absent: health is not tracked. */
  readonly health?: Pick<ModelHealth, 'begin' | 'figures'>
  /** Absent: model calls are not delayed. */
  readonly limiter?: RateLimiter
  /** The cache of runs that enable it; absent: every request is sent. */
  readonly cache?: RequestCache
  /** The agents' memory of facts; absent: this host has no memory. */
  readonly memory?: Pick<Memories, 'perform'>
  /** External agents to which keepup agents delegate; absent: this host runs none. */
  readonly delegated?: DelegatedAgents
  /** Whether this host can provide the tool with this name. */
  hasTool(name: string): boolean
  /** Whether this host can provide the model with this id; false: only another program can. Absent: it can provide all. */
  hasProvider?(model: string): boolean
  /** The secret boundary for people's text to a run with this spec. */
  secrets(spec: Pick<AgentSpec, 'secrets' | 'policy'>): Promise<SecretBoundary>
  environment(spec: AgentSpec, about: { runId: string; agentId: string; driverId: string }): Promise<Environment>
  /**
   * Rejects with `LOG_SHORTENED` if the agent's stream is shorter than an earlier read has shown. Such a stream must be
   * neither driven nor written.
   */
  mustBeWhole?(agentId: string): Promise<void>
  /** Called when a driver takes over the work of another driver that died or hangs. */
  takenOver?(agentId: string, from: string): void
  /** Named points where a fault test may end or block the process. */
  crashPoint?(name: CrashPoint): void | Promise<void>
}

/** Every boundary of the loop: before and after each append and each effect. */
export type CrashPoint =
  | AppendPoint
  | 'before_model'
  | 'after_model'
  | 'before_tool'
  | 'after_tool'
  | 'after_snapshot'
  | 'before_delivery'
  | 'loss_accepted'
  | 'before_claim'
  | 'after_claim'
