import type { Call } from '../../../calls/call.ts'
import type { JsonObject } from '../../../log/json.ts'
import type { Environment, RuntimePorts } from '../../../ports/runtime.ts'
import type { AgentState } from '../../state/state.ts'
import type { TurnMessages } from './read-turns.ts'

export interface ToolAttempt {
  readonly ports: RuntimePorts
  readonly env: Environment
  readonly state: AgentState
  readonly call: Call
  /** The recorded arguments; null: they cannot be read. */
  readonly args: JsonObject | null
  readonly stream: string
  readonly told: TurnMessages
  readonly signal: AbortSignal
}
