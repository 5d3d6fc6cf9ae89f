import type { FunctionContext, FunctionSpec } from '../external/spawn/functions.ts'
import type { TokenUsage } from '../external/spawn/token-usage.ts'
import type { Json, JsonObject } from '../log/json.ts'

/** The reference of an agent after a crash: its id, and the store that holds its result. */
export interface RunName {
  readonly store: string
  readonly agentId: string
}

/** Functions that a run may call. */
export interface OfferedFunctions {
  list(): readonly FunctionSpec[]
  /** Rejects where there is no such function, or it fails. */
  call(name: string, args: JsonObject, context: FunctionContext): Promise<Json>
}

/** The request to a provider (seed 004). The members after `permissionMode` may be left unread by other providers. */
export interface ExecutionParams {
  readonly prompt: string
  readonly model?: string
  readonly maxBudgetUsd?: number
  readonly permissionMode?: string
  readonly timeoutMs?: number
  /** Aborted: the process is to be ended. */
  readonly signal?: AbortSignal
  readonly agentId?: string
  /** The agent that it works for. */
  readonly parentId?: string
  /** The run can be found by this name after a crash. Absent: the store is in memory alone. */
  readonly name?: RunName
  /** From 1. */
  readonly attempt?: number
  /** The runtime makes a failed attempt again: the provider is not to. */
  readonly retried?: boolean
  readonly functions?: OfferedFunctions
}

/** The result of one call of a provider. */
export interface ExecutionResult {
  readonly result: string
  /** Dollars. */
  readonly costUsd?: number
  readonly durationMs?: number
  readonly sessionId?: string
  /** Turns inside the process. */
  readonly numTurns?: number
  readonly tokenUsage?: TokenUsage
  /** The run in the log that gave it. */
  readonly runId?: string
}

/** Runs an agent once and waits for it (seed 004). */
export interface LLMProvider {
  execute(params: ExecutionParams): Promise<ExecutionResult>
  /**
   * Goes on with the run of a name that a crash has left: its recorded result where it had ended, else the same session again.
   * Rejects with a SpawnError `NOT_RESUMABLE` whose `notBegun` is the agent's id. Absent: nothing can be resumed.
   */
  resume?(params: Omit<ExecutionParams, 'prompt'> & { readonly name: RunName }): Promise<ExecutionResult>
  /** Ends what is left of the run of a name; false: nothing was. Absent: nothing outlives this process. */
  end?(name: RunName): Promise<boolean>
}

/** The result of an agent, as it is remembered. */
export interface Episode {
  readonly agentId: string
  readonly status: 'completed' | 'failed'
  /** At most 2,000 characters each. */
  readonly task: string
  readonly outcome: string
  /** Ms since the epoch. */
  readonly at: number
}

/** Remembers what agents came to (the "Memory Manager" of seed 004). */
export interface ResultMemory {
  append(episode: Episode): Promise<void>
}
