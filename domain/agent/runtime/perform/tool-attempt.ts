import type { JsonObject } from '../../../log/json.ts'
import type { Environment, RuntimePorts } from '../../../ports/runtime.ts'
import type { AgentState, Call } from '../../state/state.ts'
import type { Told } from './read-turns.ts'

/** An attempt of a tool call, and the surroundings that it is performed in. */
export interface ToolAttempt {
  readonly ports: RuntimePorts
  readonly env: Environment
  readonly state: AgentState
  readonly call: Call
  /** The arguments, as they are recorded; null: they cannot be read. */
  readonly args: JsonObject | null
  /** The stream that the call is recorded in. */
  readonly stream: string
  /** The messages, for tools that read on in earlier turns. */
  readonly told: Told
  readonly signal: AbortSignal
}
