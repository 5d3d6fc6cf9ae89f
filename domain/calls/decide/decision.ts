import type { Actor } from '../../log/envelope.ts'
import type { StreamContext } from '../../stream/aggregate.ts'
import type { Call } from '../call.ts'
import type { Caller } from '../caller.ts'
import type { CallBodies } from '../events/events.ts'

/** The events of calls in the streams of every kind of agent that calls tools. */
export type SharedCallEvent =
  | 'tool_call_start'
  | 'tool_call_intent'
  | 'tool_call_retry'
  | 'tool_call_unknown'
  | 'tool_call_end'
  | 'approval_requested'
  | 'approval_supported'
  | 'approval_decided'
  | 'approval_expired'

interface SharedBodies extends Pick<CallBodies, SharedCallEvent> {}

/** A decision on the calls of an agent. Each kind of agent records the events in its own stream. */
export interface CallDecision {
  /** The agent after the events of this decision. */
  readonly caller: Caller
  /** The agent's calls after the events of this decision, in call order. */
  readonly calls: readonly Call[]
  readonly context: StreamContext
  /** Whether the deciding driver owns the agent. */
  readonly drives: boolean
  emit<T extends SharedCallEvent>(
    type: T,
    body: SharedBodies[T],
    about: { readonly toolCallId: string; readonly actor?: Actor },
  ): void
}
