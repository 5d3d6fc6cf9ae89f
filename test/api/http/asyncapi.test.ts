import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { SseReader } from '../../../adapters/web/sse-reader.ts'
import { asyncApi } from '../../../api/operations/asyncapi/document.ts'
import { eventSchema } from '../../../api/operations/events/event-schemas.ts'
import { eventTypes } from '../../../api/operations/events/filter.ts'
import { withArguments } from '../../../domain/agent/events/arguments-ref.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { kindOf } from '../../../domain/log/owner.ts'
import { bodyOf, openWorld } from '../support/http.ts'

// The AsyncAPI document, and what the streams send by its schemas.

const world = await openWorld()
const { ask, services } = world
afterAll(() => world.close())

interface Ref {
  readonly $ref: string
}
interface Document {
  readonly asyncapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly channels: Record<string, { address: string; messages: Record<string, Ref>; parameters?: object }>
  readonly operations: Record<string, { action: string; channel: Ref; security: Ref[] }>
  readonly components: {
    readonly schemas: Record<string, object>
    readonly messages: Record<string, { name: string; contentType: string; payload: object }>
    readonly securitySchemes: object
  }
}

const document = await bodyOf<Document>(await ask('GET', '/v1/asyncapi.json'))
const { channels, operations, components } = document

/** Every `$ref` in a JSON value. */
function refs(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(refs)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([k, v]) => (k === '$ref' ? [String(v)] : refs(v)))
}

const STORED = /^\/v1\/schemas\/(\w+)\/(\w+)\/(\d+)$/
const storedSchema = (ref: string) => {
  const [, kind = '', type = '', version] = STORED.exec(ref)!
  return eventSchema({ kind, type, version: Number(version) })
}

/** A validator of a schema of the document, with the schemas that it refers to. */
function validator(schema: object) {
  const $defs: Record<string, unknown> = {}
  const local = (value: object, name: (ref: string) => string): object => {
    const text = JSON.stringify(value).replaceAll(
      /"\$ref":"([^"]+)"/g,
      (_, ref: string) => `"$ref":"#/$defs/${name(ref)}"`,
    )
    return JSON.parse(text) as object
  }
  const add = (ref: string): string => {
    const key = ref.replaceAll(/[^\w.]/g, '_')
    if (key in $defs) return key
    $defs[key] = true
    if (ref.startsWith('#/components/schemas/')) $defs[key] = local(components.schemas[ref.split('/').at(-1)!]!, add)
    else {
      const {
        $schema,
        $id,
        $defs: own = {},
        ...stored
      } = storedSchema(ref) as {
        $schema?: string
        $id?: string
        $defs?: Record<string, object>
      }
      const inside = (inner: string) => `${key}.${inner.split('/').at(-1)}`
      for (const [name, one] of Object.entries(own)) $defs[`${key}.${name}`] = local(one, inside)
      $defs[key] = local(stored, inside)
    }
    return key
  }
  const whole = local(schema, add)
  return z.fromJSONSchema({ ...whole, $defs, $schema: 'https://json-schema.org/draft/2020-12/schema' } as never)
}

const validators = new Map<string, z.ZodType>()
/** The faults of a value by the message of this name. */
function faultsBy(key: string, value: unknown): unknown[] {
  const message = components.messages[key]
  if (message === undefined) return [`no message ${key}`]
  const valid = validators.get(key) ?? validator(message.payload)
  validators.set(key, valid)
  const { error } = valid.safeParse(value)
  return error === undefined ? [] : [key, error.issues]
}

interface Event {
  readonly stream: string
  readonly type: string
  readonly version: number
  readonly payload: JsonObject
}
const keyOf = ({ stream, type, version }: Event) => `${kindOf(stream)}.${type}.${version}`
const linesOf = <T>(text: string): T[] =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as T]))
const streamed = async <T>(query = '') =>
  linesOf<T>(
    await (await ask('GET', `/v1/events?follow=false${query}`, { headers: { accept: 'application/x-ndjson' } })).text(),
  )

/** The messages of an SSE stream until one of this name. */
async function messagesOf(path: string, last: string) {
  const reader = new SseReader()
  const got: { readonly name: string; readonly data: unknown }[] = []
  for await (const bytes of (await ask('GET', path)).body!) {
    for (const { name, data } of reader.push(bytes)) if (data) got.push({ name, data: JSON.parse(data) })
    if (got.some(({ name }) => name === last)) break
  }
  return got
}

let run = ''
beforeAll(async () => {
  run = await world.driven('finish it', { by: 'ann' })
  await ask('POST', '/v1/access', { body: { principal: 'ann', name: 'Ann' } })
})

describe('the AsyncAPI document', () => {
  it('is 3.0, and the same without a server', () => {
    expect([document.asyncapi, document.info]).toEqual([
      '3.0.0',
      expect.objectContaining({ title: 'keepup', version: '1.2.3' }),
    ])
    expect(JSON.parse(JSON.stringify(asyncApi('1.2.3')))).toEqual(document)
  })

  it('refers only to parts of the document and to schemas that are served', () => {
    for (const ref of refs(document)) {
      if (STORED.test(ref)) expect([ref, storedSchema(ref)]).not.toEqual([ref, null])
      else {
        const found = ref
          .split('/')
          .slice(1)
          .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document)
        expect([ref, typeof found]).toEqual([ref, 'object'])
      }
    }
    for (const name of [...Object.keys(components.schemas), ...Object.keys(components.messages)])
      expect(name).toMatch(/^[\w.-]+$/)
  })

  it('has a message for every type of event, and channels for every stream of the OpenAPI document', async () => {
    const names = new Set(Object.values(components.messages).map(({ name }) => name))
    expect(eventTypes().filter((type) => !names.has(type))).toEqual([])
    const openApi = await bodyOf<{
      paths: Record<string, { get?: { responses: Record<string, { content?: object }> } }>
    }>(await ask('GET', '/v1/openapi.json'))
    const streams = Object.entries(openApi.paths).filter(
      ([, { get }]) => 'text/event-stream' in (get?.responses['200']?.content ?? {}),
    )
    const addresses = Object.values(channels).map(({ address }) => address)
    expect([...new Set(addresses)].sort()).toEqual(streams.map(([path]) => path).sort())
    for (const { address, parameters = {} } of Object.values(channels))
      expect(Object.keys(parameters)).toEqual([...address.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
    const used = Object.values(operations).map(({ channel }) => channel.$ref.split('/').at(-1))
    expect(used.sort()).toEqual(Object.keys(channels).sort())
  })
})

describe('the schemas of the document', () => {
  it('take every event of the stream, and no event with another payload', async () => {
    const events = await streamed<Event>()
    expect(events.map(({ stream }) => kindOf(stream))).toEqual(expect.arrayContaining(['log', 'agent', 'access']))
    expect(events.map(({ type }) => type)).toContain('tool_call_start')
    for (const event of events) {
      expect(faultsBy(keyOf(event), event)).toEqual([])
      expect(faultsBy(keyOf(event), { ...event, payload: null, erased: true })).toEqual([])
      expect(faultsBy(keyOf(event), { ...event, payload: { ...event.payload, odd: 1 } })).not.toEqual([])
      expect(faultsBy(keyOf(event), { ...event, revision: 'odd' })).not.toEqual([])
    }
  })

  it('take every event as CloudEvents, with the schema that the event names', async () => {
    const [events, same] = [await streamed<{ data?: unknown }>('&format=cloudevents'), await streamed<Event>()]
    for (const [i, event] of events.entries()) {
      expect(faultsBy('cloudEvent', event)).toEqual([])
      expect(event.data).toEqual(same[i]!.payload)
    }
  })

  it('take the messages of a consumer, over SSE and as a batch', async () => {
    await ask('PUT', '/v1/consumers/all', { body: {} })
    const lines = linesOf<Event>(await (await ask('GET', '/v1/consumers/all/events?wait=0')).text())
    expect(faultsBy('consumer.batchEnd', lines.pop())).toEqual([])
    for (const event of lines) expect(faultsBy(keyOf(event), event)).toEqual([])
    const reading = messagesOf('/v1/consumers/all/events', 'end')
    await expect.poll(async () => (await services.consumers.get('all')).epoch).toBe(2)
    await ask('DELETE', '/v1/consumers/all')
    const [reader, ...rest] = await reading
    expect([reader!.name, faultsBy('consumer.reader', reader!.data)]).toEqual(['reader', []])
    expect(faultsBy('consumer.end', rest.at(-1)!.data)).toEqual([])
  })

  it('take the live messages of a run', async () => {
    const next = await world.started('finish live', { drive: false })
    const reading = messagesOf(`/v1/runs/${next}/live`, 'drive')
    expect((await reading).map(({ name, data }) => [name, faultsBy(`live.${name}`, data)])).toEqual([['drive', []]])
    services.drivers.start(next)
    await services.drivers.ended(next)
    const [after] = await messagesOf(`/v1/runs/${run}/live`, 'drive')
    expect(faultsBy('live.drive', after!.data)).toEqual([])
    const piece = { kind: 'text', runId: run, agentId: run, turn: 1, text: 'x' }
    expect(faultsBy('live.text', piece)).toEqual([])
    expect(faultsBy('live.output', piece)).not.toEqual([])
  })
})

// The stored bodies lack these members.
test.each([
  ['agent.tool_call_start.1', 'tool_call_start', { arguments: { a: 1 } }],
  ['external.tool_call_start.1', 'tool_call_start', { arguments: { a: 1 } }],
  ['agent.context_set.1', 'context_set', { value: { a: 1 } }],
])('the payload of %s has what views add', (key, type, added) => {
  const argumentsRef = { revision: 1, block: 0 }
  const call = { toolName: 't', index: 0, argumentsHash: 'a'.repeat(64), attempt: 1, effect: 'pure', intent: true }
  const body = type === 'context_set' ? { key: 'k', argumentsRef } : { ...call, argumentsRef }
  const block = {
    type: 'tool_use',
    id: 'c',
    name: 't',
    input: type === 'context_set' ? { key: 'k', ...added } : { a: 1 },
  }
  const shown = withArguments(type, body, { content: [block], calls: [{ block: 0 }] } as unknown as JsonObject)
  expect(shown).toMatchObject(added)
  const valid = validator({ $ref: `#/components/schemas/${key}` })
  expect(valid.safeParse(shown).error).toBeUndefined()
  expect(valid.safeParse(body).success).toBe(false)
})
