import type { AgentEvent, EventOf, EventType } from '../../../domain/agent/events/events.ts'
import type { JsonObject } from '../../../domain/log/json.ts'

/** The members of an event that any table may need, in addition to type and body. */
interface Recorded {
  readonly position: number
  /** The event's time, ISO 8601. */
  readonly time: string
  readonly digest: { readonly fold: number; readonly value: string } | null
  /** The arguments of the call that the event refers to; null: erased. */
  readonly arguments?: JsonObject | null
  /** The body was erased: `body` is its residue, without content of a person, model or tool. */
  readonly erased?: true
}

/** An event whose body was erased without a residue: only its header is known. */
export type ErasedEvent = { [T in EventType]: Omit<EventOf<T>, 'body'> & { readonly body: null } }[EventType]

/** An agent's event for the row rules: with its body, the residue of its body, or null. */
export type ProjectedEvent = (AgentEvent | ErasedEvent) & Recorded
