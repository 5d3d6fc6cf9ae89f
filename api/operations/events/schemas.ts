import { z } from 'zod'
import type { ResolvedArguments } from '../../../domain/agent/events/arguments-ref.ts'
import type { StoredBody, StoredType } from '../../../domain/kinds.ts'
import { Actor } from '../../../domain/log/envelope.ts'
import { AnyJson, CursorText, Digits, EventTypes, Id, PageQuery } from '../schemas.ts'

export type { StoredType }

type Payloads = {
  readonly [T in StoredType]: T extends keyof ResolvedArguments ? StoredBody<T> & ResolvedArguments[T] : StoredBody<T>
}
/** The body of a type of event as views show it. */
export type Payload<T extends StoredType> = Payloads[T]

type TypedPayload =
  | { [T in StoredType]: { type: T; payload: Payload<T> } }[StoredType]
  | { type: StoredType; payload: null }

const AnyEvent = z
  .strictObject({
    id: z.string(),
    cursor: z.string(),
    runId: z.string(),
    agentId: z.string(),
    type: z.string(),
    version: z.int(),
    turn: z.int(),
    timestamp: z.string(),
    toolCallId: z.string().optional(),
    stream: z.string(),
    revision: z.int(),
    actor: Actor,
    commandId: z.string(),
    correlationId: z.string(),
    causationId: z.string().optional(),
    epoch: z.int().optional(),
    hash: z.string(),
    erased: z.literal(true).optional(),
    altered: z.literal(true).optional().meta({ description: 'The stored body is not the one that was sealed' }),
    cut: z
      .literal(true)
      .optional()
      .meta({ description: 'Of a brief view: texts of the payload are only their beginning' }),
    payload: z.record(z.string(), AnyJson).nullable(),
  })
  .meta({ id: 'RuntimeEvent', description: 'An event of the log' })

/**
 * An event for consumers: seed 000's `RuntimeEvent` with additions. A person's event has `user:<id>` as `agentId`, and
 * `turn` 0. `stream`: the event's stream. `payload` null: the body was erased or altered. An altered body does not
 * match its sealed hash, so no view shows it. The types describe the events that this program writes; a newer program
 * may have written others. Of a `cut` view, the last member of a long array is the text `…`.
 */
export type EventView = Omit<z.infer<typeof AnyEvent>, 'type' | 'payload'> & TypedPayload
export const EventView = AnyEvent as z.ZodType<EventView>
/** The names of the members of an event, in order. */
export const EVENT_MEMBERS: readonly string[] = Object.keys(AnyEvent.shape)

export const EventPage = z
  .strictObject({ events: z.array(EventView), next: z.string().nullable() })
  .meta({ id: 'EventPage' })

export const EventStreamQuery = z.strictObject({
  after: CursorText.optional(),
  run: Id.optional(),
  agent: Id.optional(),
  type: EventTypes.optional(),
  brief: z.enum(['true', 'false']).default('false').meta({ description: 'true: long texts are cut' }),
  from: z.enum(['start', 'head']).default('start').meta({ description: 'Where to begin without a cursor' }),
  format: z
    .enum(['events', 'cloudevents'])
    .default('events')
    .meta({ description: 'cloudevents: each event in the JSON format of CloudEvents 1.0.2' }),
  follow: z.enum(['true', 'false']).default('true').meta({ description: 'false: end at the head of now' }),
})

export const RunEventsQuery = PageQuery.extend({
  agent: Id.optional().meta({ description: 'An agent of the run, or a person: user:<id>' }),
  type: EventTypes.optional(),
  turn: Digits.optional().meta({ type: 'integer', description: 'As events show it: 0 outside of turns' }),
})

export const EventTypeParams = z.object({
  kind: Id.meta({ description: 'A kind of stream, such as agent' }),
  type: Id,
  version: Digits.pipe(z.int().positive()),
})

export const EventTypeList = z
  .strictObject({
    types: z.array(
      z.strictObject({
        kind: z.string(),
        type: z.string(),
        version: z.int().positive(),
        schema: z.string().meta({ description: 'The path of its JSON Schema' }),
      }),
    ),
  })
  .meta({ id: 'EventTypeList' })

export const EventSchema = z.record(z.string(), z.unknown()).meta({ id: 'EventSchema', description: 'A JSON Schema' })
