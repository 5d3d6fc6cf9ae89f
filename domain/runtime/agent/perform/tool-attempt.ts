import type { EventOf } from '../../../agent/events/events.ts'
import type { AgentState, Call } from '../../../agent/state/state.ts'
import type { Environment, RuntimePorts } from '../../ports.ts'
import type { Told } from './read-turns.ts'

/** An attempt of a tool call, and the surroundings that it is performed in. */
export interface ToolAttempt {
  readonly ports: RuntimePorts
  readonly env: Environment
  readonly state: AgentState
  readonly call: Call
  /** The answer of the model that asks for the call: it holds the arguments. */
  readonly answer: EventOf<'model_call_end'>
  /** The messages, for tools that read on in earlier turns. */
  readonly told: Told
  readonly signal: AbortSignal
}
