import type { AgentEvent, EventOf, EventType } from '../../domain/agent/events/events.ts'
import type { JsonObject } from '../../domain/log/json.ts'

/** Where an event stands, told to every table. */
export interface Place {
  /** Position in the log. */
  readonly position: number
  /** The event's time, ISO 8601. */
  readonly time: string
  readonly digest: { readonly fold: number; readonly value: string } | null
  /** What the model gave the call that the event points to; null: erased. */
  readonly arguments?: JsonObject | null
  /** Its body was erased: it is what the erasure has left of it, which says nothing that anybody said. */
  readonly erased?: true
}

/** An event whose body was erased and could not be read then: only what the header says is left. */
export type ErasedEvent = { [T in EventType]: Omit<EventOf<T>, 'body'> & { readonly body: null } }[EventType]

/** What the tables are made of: an event with its body or what is left of that, or without where nothing is. */
export type Seen = (AgentEvent | ErasedEvent) & Place
