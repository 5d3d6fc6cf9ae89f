import type { VariableRef } from '../../ports/variables.ts'
import { SpawnError } from './errors.ts'
import { addTokens, NO_TOKENS, type TokenUsage } from './token-usage.ts'

// Spawn-and-wait, with the names of seed 004.

/** The destination of a result: the caller, the parent's merge, or only the store. */
export type OnComplete = 'return' | 'merge' | 'store'

/** The state of a spawned agent (seed 004). */
export type AgentStatus = 'idle' | 'running' | 'completed' | 'failed' | 'cancelled'

/** An agent to run. `model`: the provider's name of the model. The provider gets the last three members unchanged. */
export interface AgentConfig {
  readonly id: string
  readonly prompt: string
  /** A variable of the store. The prompt contains its summary. */
  readonly contextRef?: VariableRef
  readonly model: string
  /** The parent agent. */
  readonly parentId?: string
  /** Default: `return`. */
  readonly onComplete?: OnComplete
  /** US dollars. */
  readonly maxBudgetUsd?: number
  readonly permissionMode?: string
  readonly timeoutMs?: number
}

/** An agent in its runtime. `iterations`: the number of provider calls; more than 1 only after retries. */
export interface Agent {
  readonly id: string
  readonly config: AgentConfig
  readonly status: AgentStatus
  readonly iterations: number
  readonly tokenUsage: TokenUsage
  readonly result?: unknown
  readonly cancelled: boolean
}

/** The outcome of an agent. `result`: the answer's text, `{error}` after a failure, empty after a cancel. */
export interface AgentResult {
  readonly agentId: string
  readonly result: unknown
  readonly tokenUsage: TokenUsage
  readonly iterations: number
  /** Always empty from AgentRuntime. RecursiveSpawner adds the results of children. */
  readonly children: readonly AgentResult[]
  /** US dollars of all attempts; absent: the provider reported no cost. */
  readonly costUsd?: number
  readonly sessionId?: string
  /** Turns of the agent inside its process. */
  readonly numTurns?: number
}

/** The key under which the result of an agent is stored. */
export const resultKey = (agentId: string): string => `agent-result-${agentId}`

/** Ids are part of variable keys and messages. */
const ID = /^[^\p{Cc}\p{Cs}"]+$/u
const MAX_ID = 128
const ON_COMPLETE: readonly unknown[] = [undefined, 'return', 'merge', 'store']

/** Throws `INVALID_AGENT` for an invalid config. No message repeats a prompt. */
export function checkConfig(config: AgentConfig): void {
  const { id, prompt, model, onComplete } = config
  if (typeof id !== 'string' || id.trim() === '' || id.length > MAX_ID || !ID.test(id))
    throw invalid(`the id of an agent has 1 to ${MAX_ID} characters, without quotes and control characters`)
  if (typeof prompt !== 'string' || prompt.trim() === '')
    throw invalid(`the prompt of "${id}" may not be blank; say what the agent is to do`)
  if (typeof model !== 'string' || model.trim() === '') throw invalid(`name the model of "${id}"`)
  if (!ON_COMPLETE.includes(onComplete)) throw invalid(`onComplete of "${id}" is return, merge or store`)
  if (config.parentId === id) throw invalid(`"${id}" cannot be its own parent`)
}

const invalid = (message: string) => new SpawnError('INVALID_AGENT', message)

/** The events of an agent's life cycle. `ended`: the provider answered or failed. */
export type AgentMove =
  | { readonly move: 'run' }
  | { readonly move: 'attempt' }
  | { readonly move: 'spent'; readonly tokenUsage: TokenUsage }
  | { readonly move: 'ended'; readonly status: 'completed' | 'failed'; readonly result: unknown }
  | { readonly move: 'cancel' }

export const created = (config: AgentConfig): Agent => ({
  id: config.id,
  config,
  status: 'idle',
  iterations: 0,
  tokenUsage: NO_TOKENS,
  cancelled: false,
})

/**
 * The agent after a move. A second run throws `RUN_TWICE`. After an end or a cancel, only `spent` changes the agent.
 */
export function moved(agent: Agent, move: AgentMove): Agent {
  switch (move.move) {
    case 'run':
      if (agent.cancelled) return agent
      if (agent.status !== 'idle')
        throw new SpawnError('RUN_TWICE', `"${agent.id}" was run before; create another agent for another run`)
      return { ...agent, status: 'running' }
    case 'attempt':
      return isOver(agent) ? agent : { ...agent, iterations: agent.iterations + 1 }
    case 'spent':
      return { ...agent, tokenUsage: addTokens(agent.tokenUsage, move.tokenUsage) }
    case 'ended':
      return isOver(agent) ? agent : { ...agent, status: move.status, result: move.result }
    case 'cancel':
      return isOver(agent) ? agent : { ...agent, status: 'cancelled', cancelled: true }
  }
}

export const isOver = ({ status }: Agent): boolean => status !== 'idle' && status !== 'running'
