import type { AgentSpec } from '../agent/definition/spec.ts'
import type { ModelHealth } from '../agent/runtime/model-health.ts'
import type { Json, JsonObject } from '../log/json.ts'
import type { Memories } from '../memory/runtime/memories.ts'
import type { AppendPoint, StreamPorts } from '../stream/runtime/ports.ts'
import type { AgentRunHandle, TextsFilter } from './external.ts'
import type { LiveFeed, ModelProvider, RateLimiter, RequestCache, Sandbox, Tool, Workspace } from './index.ts'

/**
 * The boundary that no secret crosses (5.12.5): replaces secret values by references in what is about to become a
 * command. `keep` makes durable what the references stand for, and is awaited before anything redacted is appended.
 */
export interface SecretBoundary {
  text(text: string): string
  /** Whether a secret value that is known stands in the text; patterns do not count. */
  holdsKnown(text: string): boolean
  json<T>(value: T): T
  /** A call's arguments; the `value` of `set_context` stands under its `key`. */
  arguments(toolName: string, args: JsonObject): JsonObject
  /** A tool's result: strings that are JSON as a whole are looked into. */
  result(value: Json): Json
  /** A redactor for text that comes in pieces. */
  stream(): { push(text: string): string; end(): string }
  /** A redactor for texts that are shown one by one. */
  texts(): TextsFilter
  keep(): Promise<void>
  /** Awaited around each effect: what became a secret since is hidden from here on. */
  refresh(): Promise<void>
  /**
   * Puts values back when a tool is performed. Rejects with ToolError SECRET_UNAVAILABLE for a secret that the vault does not
   * hold, or that was not granted to this tool.
   */
  resolve(args: JsonObject, toolName: string): Promise<JsonObject>
}

/** The workspace of one run, opened for as long as it is driven. */
export interface Environment {
  readonly workspace: Workspace | null
  readonly sandbox: Sandbox | null
  readonly secrets: SecretBoundary
  /** A tool of the run; undefined: this drive has none of that name. */
  tool(name: string): Tool | undefined
  /** Ends what is left of processes that a dead driver started on this host. */
  reap(): Promise<void>
  /** `ends`: its agent has ended, and does not work in it again. */
  close(ends?: boolean): Promise<void>
}

/** A lease that is renewed until it is given back, or lost. An optimisation: the epoch in the log is the truth. */
export interface Lease {
  /** Aborts when others may hold it: another process does, or it could not be renewed in time. */
  readonly lost: AbortSignal
  release(): Promise<void>
}

/** Where calls of keepup's own tools by another agent are performed. */
export interface ToolDesk {
  readonly ports: RuntimePorts
  /** Of the run, with the tools that the agent may call. */
  readonly env: Environment
  /** Is its parent paused? Then nothing is begun. */
  paused(): boolean
}

/** Runs of other agents that keepup's own agents delegate, as a tree of agents sees them. */
export interface DelegatedRuns {
  /**
   * Starts the process of a run that was born in the log, in the working folder that the run of its parent holds. `about`: what
   * is hidden in its stream. `desk`: where its calls of keepup's tools are performed. A run that cannot be started is ended in
   * the log. Rejects where it was started before.
   */
  take(agentId: string, about: Pick<AgentSpec, 'secrets' | 'policy'>, desk?: ToolDesk): Promise<AgentRunHandle>
  /** A run that is at work in this process. */
  at(agentId: string): AgentRunHandle | undefined
}

/** Everything the runtime asks of the world. */
export interface RuntimePorts extends StreamPorts {
  readonly feed: LiveFeed
  /** The program's version, recorded in claims. */
  readonly build: string
  /** Names this process among several: the ids of its drivers begin so. */
  readonly driver?: string
  /** Agents of a run at work at once (5): one that waits for people or for other agents is not at work. */
  readonly agentsAtOnce?: number
  /**
   * The right to drive `name`, an agent, a run or a slot of it, where several processes drive; null: another
   * one has it. Absent: this process alone drives.
   */
  lease?(name: string): Promise<Lease | null>
  /** Throws ModelError where the model cannot be had. */
  provider(modelId: string): ModelProvider
  /** The health of the models that this process calls; absent: none is watched. */
  readonly health?: Pick<ModelHealth, 'begin' | 'figures'>
  /** Absent: nothing holds calls of models back. */
  readonly limiter?: RateLimiter
  /** Of runs that want it; absent: every request is asked. */
  readonly cache?: RequestCache
  /** The memory of agents beyond their conversations; absent: this host has no memory. */
  readonly memory?: Pick<Memories, 'perform'>
  /** Other agents that keepup's own ones delegate to; absent: this host runs none. */
  readonly delegated?: DelegatedRuns
  /** Whether this host can give a drive the tool of this name. */
  hasTool(name: string): boolean
  /** The boundary for what people say to a run with this spec. */
  secrets(spec: Pick<AgentSpec, 'secrets' | 'policy'>): Promise<SecretBoundary>
  environment(spec: AgentSpec, about: { runId: string; agentId: string; driverId: string }): Promise<Environment>
  /** Rejects with `LOG_SHORTENED` where the agent's stream holds less than was seen of it: it is neither driven nor written to
   * then. */
  mustBeWhole?(agentId: string): Promise<void>
  /** Told when a driver goes on with what another one had at work: that one has died, or hangs. */
  takenOver?(agentId: string, from: string): void
  /** Named points at which a fault test may end or hold the process. */
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
  | 'before_claim'
  | 'after_claim'
