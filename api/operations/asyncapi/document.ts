import { z } from 'zod'
import { Actor } from '../../../domain/log/envelope.ts'
import { VERSION } from '../../version.ts'
import { CONSUMER_MESSAGES, ConsumeQuery } from '../consumers/schemas.ts'
import { Presence } from '../document/presence.ts'
import { EventStreamQuery } from '../events/schemas.ts'
import { CloudEventSchema } from '../export/cloud-event-schema.ts'
import { RUN_NEWS } from '../runs/run-news.ts'
import { Components } from './components.ts'
import { eventMessages, type Message } from './event-messages.ts'

const DocumentUpdate = z.strictObject({
  revision: z.int(),
  at: z.string(),
  by: Actor,
  frontier: z.string(),
  update: z.string().meta({ description: 'The update in the binary format of Loro, as base64' }),
})

const PersonPresent = Presence.extend({ by: Actor }).meta({ id: 'PersonPresent' })

const WIRE =
  'Over SSE, `data` is the payload of a message, `event` its name, and `id` the position to continue after. With ' +
  '`Accept: application/x-ndjson` each line is a payload. Messages without `data`, and empty lines, are heartbeats.'

/**
 * The AsyncAPI 3.0 document of the event streams over HTTP. The schemas of stored bodies are references to
 * `/v1/schemas/{kind}/{type}/{version}`, which {@link eventSchema} resolves without a server. `version`: that of the
 * server; default: of this program.
 */
export function asyncApi(version: string = VERSION): Readonly<Record<string, unknown>> {
  const components = new Components()
  const messages = eventMessages(components)
  const events = Object.keys(messages)
  const add = (key: string, message: Message) => {
    messages[key] = message
    return key
  }
  const named = (schemas: Readonly<Record<string, z.ZodType>>, prefix: string) =>
    Object.entries(schemas).map(([name, schema]) => {
      const key = `${prefix}.${name}`
      const payload = components.add(key, schema)
      return add(key, { name, title: `${prefix} ${name}`, contentType: 'application/json', payload })
    })
  const cloudEvent = add('cloudEvent', {
    name: 'cloudEvent',
    title: 'an event as CloudEvents 1.0.2',
    contentType: 'application/cloudevents+json',
    summary: '`data` is the member `payload` of the other form. Over SSE, `event` is the type of the event',
    payload: components.add('CloudEvent', CloudEventSchema),
  })
  const consumer = named(CONSUMER_MESSAGES, 'consumer')
  const live = named(RUN_NEWS, 'live')
  const document = named({ update: DocumentUpdate, presence: PersonPresent }, 'document')
  const channels = {
    events: channel('/v1/events', events, {
      title: 'Events of the log',
      description: `Every event that the reader may see, in the order of the log; \`run\` selects those of one run. ${WIRE}`,
    }),
    cloudEvents: channel('/v1/events', [cloudEvent], {
      title: 'Events of the log as CloudEvents',
      description: `The same with \`format=cloudevents\`. ${WIRE}`,
    }),
    consumerEvents: channel('/v1/consumers/{name}/events', [...events, ...consumer], {
      title: 'Events for a named consumer',
      description:
        `The events after the position of the consumer. ${WIRE} Over SSE the first message is \`reader\`, and \`end\` says ` +
        'why the stream ends. A batch (`max`, `wait` or NDJSON) has neither; its last line is `batchEnd`.',
      parameters: { name: { description: 'The name of the consumer' } },
    }),
    runNews: channel('/v1/runs/{id}/live', live, {
      title: 'Live text of a run',
      description: `Text as it streams, and whether a driver is at work. Nothing of it is stored. SSE only, without \`id\`.`,
      parameters: { id: { description: 'The id of the run' } },
    }),
    documentUpdates: channel('/v1/documents/{id}/updates', document, {
      title: 'Updates of a document',
      description:
        'SSE only. `id` is the revision; `presence` has none, because it is not stored, and comes with `presence=CLIENT`.',
      parameters: { id: { description: 'The id of the document' } },
    }),
  }
  const eventQuery = components.add('EventStreamQuery', EventStreamQuery, 'input')
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'keepup',
      version,
      description: 'The event streams of keepup over HTTP. `/v1/openapi.json` describes the requests.',
    },
    defaultContentType: 'application/json',
    channels,
    operations: {
      streamEvents: operation('events', eventQuery),
      streamCloudEvents: operation('cloudEvents', eventQuery),
      consumeEvents: operation('consumerEvents', components.add('ConsumeQuery', ConsumeQuery, 'input')),
      streamRunNews: operation('runNews'),
      streamUpdates: operation('documentUpdates'),
    },
    components: {
      schemas: components.schemas,
      messages,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  }
}

const channel = (address: string, messages: readonly string[], about: object) => ({
  address,
  ...about,
  messages: Object.fromEntries(messages.map((key) => [key, { $ref: `#/components/messages/${key}` }])),
})

/** keepup sends the messages of a channel to a client that asks with GET. */
const operation = (channel: string, query?: object) => ({
  action: 'send',
  channel: { $ref: `#/channels/${channel}` },
  security: [{ $ref: '#/components/securitySchemes/token' }],
  bindings: { http: { method: 'GET', ...(query && { query }), bindingVersion: '0.3.0' } },
})
