import { z } from 'zod'
import { Actor } from '../../../domain/log/envelope.ts'
import { AnyJson, Digits, EventTypes, Id, PageQuery } from '../schemas.ts'

/**
 * An event for consumers: seed 000's `RuntimeEvent` with additions. A person's event has `user:<id>` as `agentId`, and
 * `turn` 0. `stream`: the event's stream. `payload` null: the body was erased or altered. An altered body does not
 * match its sealed hash, so no view shows it.
 */
export const EventView = z
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
  .meta({ id: 'RuntimeEvent' })
export type EventView = z.infer<typeof EventView>

export const EventPage = z
  .strictObject({ events: z.array(EventView), next: z.string().nullable() })
  .meta({ id: 'EventPage' })

export const RunEventsQuery = PageQuery.extend({
  agent: Id.optional().meta({ description: 'An agent of the run, or a person: user:<id>' }),
  type: EventTypes.optional(),
  turn: Digits.optional().meta({ type: 'integer', description: 'As events show it: 0 outside of turns' }),
})
