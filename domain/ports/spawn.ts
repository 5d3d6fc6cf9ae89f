import type { FunctionContext, FunctionSpec } from '../external/spawn/functions.ts'
import type { TokenUsage } from '../external/spawn/token-usage.ts'
import type { Json, JsonObject } from '../log/json.ts'

/** Identifies an agent after a crash: its id, and the store with its result. */
export interface RunName {
  readonly store: string
  readonly agentId: string
}

/** Functions that a run may call. */
export interface OfferedFunctions {
  list(): readonly FunctionSpec[]
  /** Rejects if the function does not exist or fails. */
  call(name: string, args: JsonObject, context: FunctionContext): Promise<Json>
}

/** A request to a provider (seed 004). Other providers may ignore the members after `permissionMode`. */
export interface ExecutionParams {
  readonly prompt: string
  readonly model?: string
  readonly maxBudgetUsd?: number
  readonly permissionMode?: string
  readonly timeoutMs?: number
  /** Aborts when the process must end. */
  readonly signal?: AbortSignal
  readonly agentId?: string
  /** The parent agent. */
  readonly parentId?: string
  /** The run can be found by this name after a crash. Absent: the store is only in memory. */
  readonly name?: RunName
  /** From 1. */
  readonly attempt?: number
  /** The runtime retries failed attempts, so the provider must not. */
  readonly retried?: boolean
  readonly functions?: OfferedFunctions
}

/** The result of one call of a provider. */
export interface ExecutionResult {
  readonly result: string
  /** US dollars. */
  readonly costUsd?: number
  readonly durationMs?: number
  readonly sessionId?: string
  /** Turns inside the process. */
  readonly numTurns?: number
  readonly tokenUsage?: TokenUsage
  /** The id of the run in the log. */
  readonly runId?: string
}

/** Runs an agent once and waits for it (seed 004). */
export interface LLMProvider {
  execute(params: ExecutionParams): Promise<ExecutionResult>
  /**
   * Resumes the run of a name after a crash: returns its recorded result if it had ended, else continues the same
   * session. Rejects with a SpawnError `NOT_RESUMABLE` whose `notBegun` is the agent's id. Absent: no run can be
   * resumed.
   */
  resume?(params: Omit<ExecutionParams, 'prompt'> & { readonly name: RunName }): Promise<ExecutionResult>
  /** Ends the remaining run of a name; false: no run was left. Absent: no run outlives this process. */
  end?(name: RunName): Promise<boolean>
}

/** The result of an agent, as an entry of the memory. */
export interface Episode {
  readonly agentId: string
  readonly status: 'completed' | 'failed'
  /** At most 2,000 characters each. */
  readonly task: string
  readonly outcome: string
  /** Ms since the epoch. */
  readonly at: number
}

/** Stores the results of agents (the "Memory Manager" of seed 004). */
export interface ResultMemory {
  append(episode: Episode): Promise<void>
}
