import { z } from 'zod'
import { RESOLVED_ARGUMENTS, showsArguments } from '../../../domain/agent/events/arguments-ref.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'
import { KEY_CLAIMED } from '../../../domain/log/idempotency-claim.ts'
import { LOG_CREATED, LogCreated } from '../../../domain/log/identity.ts'
import { LOG_LOSS_ACCEPTED, LogLoss } from '../../../domain/log/loss/loss.ts'
import { type EventType, eventTypes } from '../events/event-schemas.ts'
import { EventView } from '../events/schemas.ts'
import type { Components, Ref } from './components.ts'

/** A message of the document. Its name is the `event` of server-sent events. */
export interface Message {
  readonly name: string
  readonly title: string
  readonly contentType: string
  readonly summary?: string
  readonly payload: unknown
}

/** Streams without a state have no aggregate, so `/v1/schemas` does not list their types. */
const STATELESS: readonly (EventType & { readonly body: z.ZodType })[] = [
  { kind: 'log', type: LOG_CREATED, version: 1, body: LogCreated },
  { kind: 'log', type: LOG_LOSS_ACCEPTED, version: 1, body: LogLoss },
  { kind: 'key', type: KEY_CLAIMED, version: 1, body: z.strictObject({}) },
]

/** The key of the message for a type of event. */
export const messageKey = ({ kind, type, version }: EventType): string => `${kind}.${type}.${version}`

/**
 * The messages for events: one for each type that this program writes, and `otherEvent` for the rest. The payload of a
 * message is the view of an event (`RuntimeEvent`), whose own member `payload` has the schema of the stored body, with
 * the arguments of a call where views add them.
 */
export function eventMessages(components: Components): Record<string, Message> {
  const envelope = components.add('RuntimeEvent', EventView)
  const messages: Record<string, Message> = {}
  const add = (one: EventType, body: Ref) => {
    messages[messageKey(one)] = {
      name: one.type,
      title: `${one.kind} ${one.type}`,
      contentType: 'application/json',
      payload: { allOf: [envelope, viewOf(one, body)] },
    }
  }
  for (const one of eventTypes()) {
    const shown = withResolved(one.type, AGGREGATES.get(one.kind)!.bodies[one.type]!)
    const stored = { $ref: `/v1/schemas/${one.kind}/${one.type}/${one.version}` }
    add(one, shown === null ? stored : components.add(messageKey(one), shown))
  }
  for (const { body, ...one } of STATELESS) add(one, components.add(messageKey(one), body))
  messages.otherEvent = {
    name: 'otherEvent',
    title: 'another event',
    contentType: 'application/json',
    summary:
      'An event with `cut`, whose texts `brief=true` has cut, or an event of a type or version that this keepup does not write',
    payload: envelope,
  }
  return messages
}

/** The members of the envelope that depend on the type. */
const viewOf = ({ kind, type, version }: EventType, body: Ref) => ({
  type: 'object',
  properties: {
    type: { const: type },
    version: { const: version },
    stream: { type: 'string', pattern: `^${kind}-` },
    payload: { anyOf: [body, { type: 'null' }] },
  },
})

/** A body with the members that views add. Null: views add none to this type. */
function withResolved(type: string, body: z.ZodType): z.ZodType | null {
  if (!showsArguments(type)) return null
  if (body instanceof z.ZodUnion)
    return z.union(body.options.map((option) => withResolved(type, option as z.ZodType) ?? (option as z.ZodType)))
  if (!(body instanceof z.ZodObject) || !('argumentsRef' in body.shape)) return null
  return body.extend(RESOLVED_ARGUMENTS[type])
}
