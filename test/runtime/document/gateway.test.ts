import { describe, expect, test } from 'vitest'
import { RawBody } from '../../../domain/document/runtime/received-body.ts'
import { document, documentStream, REFUSED_STREAM } from '../../../domain/document/stream/aggregate.ts'
import { keyedCommand } from '../../../domain/log/ids.ts'
import { verifyStream } from '../../../domain/stream/runtime/verify.ts'
import { LOGS, world } from '../../support/documents/gateway-world.ts'
import { Person } from '../../support/documents/person.ts'
import {
  ANN,
  BOB,
  DocumentGateway,
  eventsOf,
  made,
  replaceFirst,
  requestFor,
  textsOf,
  typesOf,
} from '../../support/documents/runtime.ts'

describe.each(LOGS)('the gateway over %s', (_, open) => {
  test('records a request with its update in one append, and applies it', async () => {
    const { ports, gateway } = await world(open)
    const id = await made(gateway, '<p>Hello</p><p>World</p>')
    const answer = await gateway.envelope(id, await requestFor(gateway, id, 'r1', replaceFirst('Bye')), ANN)
    expect(answer.status).toBe(200)
    expect(await textsOf(gateway, id)).toEqual(['Bye', 'World'])
    expect(await typesOf(ports, id)).toEqual([
      ...['document_created', 'document_updated', 'envelope_received', 'document_updated'],
    ])
    expect(await verifyStream(ports, document, documentStream(id))).toMatchObject({ ok: true, digests: 2 })
  })

  test('creates a document once for a key, also for two processes at the same time', async () => {
    const { gateway, another } = await world(open)
    const content = { title: 'Plan', source: 'empty', blocks: [] } as const
    const key = { documentId: 'plan', commandId: keyedCommand('log', 'key', content) }
    const both = await Promise.all([gateway, another()].map((one) => one.create(content, ANN, key)))
    expect(both.map(({ documentId }) => documentId)).toEqual(['plan', 'plan'])
    expect(both.filter(({ made }) => made)).toHaveLength(1)
    expect(await another().create(content, ANN, key)).toEqual({ documentId: 'plan', made: false })
    const other = { ...key, commandId: keyedCommand('log', 'key', 'another content') }
    await expect(gateway.create(content, ANN, other)).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
  })

  test('gives a repeated request its first answer after a restart, applies it once, and refuses its id for another', async () => {
    const { ports, gateway, another } = await world(open)
    const id = await made(gateway, '<p>Hello</p>')
    const request = await requestFor(gateway, id, 'r1', replaceFirst('Bye'))
    const stale = { ...request, client_request_id: 'r2' }
    const first = await gateway.envelope(id, request, ANN)
    const conflict = await gateway.envelope(id, stale, ANN)
    expect(conflict).toMatchObject({ status: 409, body: { failed_preconditions: [{ reason: 'hash_mismatch' }] } })
    const restarted = another()
    expect(await restarted.envelope(id, request, ANN)).toEqual(first)
    expect(await restarted.envelope(id, stale, ANN)).toEqual(conflict)
    const reused = await restarted.envelope(id, { ...request, ops_xml: replaceFirst('No')(['b']) }, ANN)
    expect(reused).toMatchObject({ status: 400 })
    const other = { ...request, doc_frontier: '' }
    expect(await restarted.envelope(id, other, ANN)).toMatchObject({ body: { code: 'AI_IDEMPOTENCY_KEY_REUSED' } })
    // The key belongs to its caller.
    expect(await restarted.envelope(id, request, BOB)).toMatchObject({ status: 409 })
    expect(await textsOf(gateway, id)).toEqual(['Bye'])
    const applied = (await typesOf(ports, id)).filter((type) => type === 'document_updated')
    expect(applied).toHaveLength(2)
  })

  test('judges again where another process was faster: nothing is lost, nothing is applied to a stale span', async () => {
    const { ports, gateway, another } = await world(open)
    const id = await made(gateway, '<p>one</p><p>two</p>')
    const other = another()
    await other.read(id)
    const ask = async (which: DocumentGateway, n: number, name: string) => {
      const ops = (ids: readonly string[]) => `<replace_spans><span span_id="${ids[n]}">${name}</span></replace_spans>`
      return which.envelope(id, await requestFor(which, id, name, ops, [n]), ANN)
    }
    const answers = await Promise.all([
      ask(gateway, 0, 'a'),
      ask(other, 1, 'b'),
      ask(other, 0, 'c'),
      ask(gateway, 1, 'd'),
    ])
    const won = answers.filter(({ status }) => status === 200)
    expect(won.length).toBeGreaterThanOrEqual(2)
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    expect(await textsOf(gateway, id)).toEqual(await textsOf(other, id))
    const updates = (await typesOf(ports, id)).filter((type) => type === 'document_updated')
    expect(updates).toHaveLength(1 + won.length)
    expect(await verifyStream(ports, document, documentStream(id))).toMatchObject({ ok: true })
  })
})

test('records of a body answered with 400 its hash and reason, and of other refused ones the request', async () => {
  const { ports, gateway } = await world()
  const id = await made(gateway, '<p>Hello</p>')
  await gateway.envelope(id, new RawBody(Buffer.from('{'), 'no JSON'), ANN)
  await gateway.envelope(id, { secret: 1 }, ANN)
  await gateway.envelope(id, await requestFor(gateway, id, 'r1', replaceFirst('<script>x</script>')), ANN)
  await gateway.envelope(id, await requestFor(gateway, id, 'r2', replaceFirst('<p>block</p>')), ANN)
  const events = (await eventsOf(ports, documentStream(id))).slice(2)
  expect(events.map(({ type }) => type)).toEqual(
    Array.from({ length: 4 }, () => ['envelope_received', 'envelope_refused']).flat(),
  )
  const received = events.flatMap((event) => (event.type === 'envelope_received' ? [event.body.request !== null] : []))
  expect(received).toEqual([false, false, false, true])
  const codes = events.flatMap((event) => (event.type === 'envelope_refused' ? [event.body.answer.body.code] : []))
  expect(codes).toEqual([
    ...['INVALID_REQUEST', 'INVALID_REQUEST', 'AI_PAYLOAD_REJECTED_SANITIZE', 'AI_PAYLOAD_REJECTED_SCHEMA_VIOLATION'],
  ])
})

test('records a request for an unknown document in the stream of those', async () => {
  const { ports, gateway } = await world()
  const request = {
    ...{ doc_frontier: '', client_request_id: 'r1', preconditions: [] },
    ops_xml: '<insert_blocks after="start"><p>x</p></insert_blocks>',
  }
  const answer = await gateway.envelope('none', request, ANN)
  expect(answer).toMatchObject({ status: 404, body: { code: 'DOCUMENT_NOT_FOUND' } })
  expect(await gateway.envelope('none', request, ANN)).toEqual(answer)
  const events = await eventsOf(ports, REFUSED_STREAM)
  expect(events.map(({ type }) => type)).toEqual(['envelope_received', 'envelope_refused'])
  expect(events[0]!.body).toMatchObject({ documentId: 'none' })
})

test('refuses a request that holds a secret, and keeps nothing of it', async () => {
  const { ports } = await world()
  const gateway = new DocumentGateway({ ...ports, holdsSecret: async (text) => text.includes('hunter2') })
  const id = await made(gateway, '<p>Hello</p>')
  const answer = await gateway.envelope(id, await requestFor(gateway, id, 'r1', replaceFirst('hunter2')), ANN)
  expect(answer).toMatchObject({ status: 400, body: { code: 'AI_PAYLOAD_REJECTED_SANITIZE' } })
  expect(JSON.stringify(await eventsOf(ports, documentStream(id)))).not.toContain('hunter2')
  await gateway.close()
})

describe('an update of a person', () => {
  test('is recorded with its author and merges with the edits of agents', async () => {
    const { ports, gateway } = await world()
    const id = await made(gateway, '<p>Hello</p>')
    const person = new Person('77', (await gateway.snapshot(id)).bytes)
    const request = await requestFor(
      gateway,
      id,
      'r1',
      (ids) => `<insert_blocks after="${ids[0]}"><p>new</p></insert_blocks>`,
    )
    expect((await gateway.envelope(id, request, ANN)).status).toBe(200)
    const update = person.change(() => person.text(0).insert(5, ', you'))
    expect(await gateway.import(id, update, BOB)).toMatchObject({ recorded: true })
    expect(await textsOf(gateway, id)).toEqual(['Hello, you', 'new'])
    expect(await gateway.import(id, update, BOB)).toMatchObject({ recorded: false })
    const last = (await eventsOf(ports, documentStream(id))).at(-1)!
    expect([last.type, last.actor.id]).toEqual(['person_updated', 'bob'])
  })

  test.each([
    ['no Loro update', 'UPDATE_MALFORMED', () => new Uint8Array([1, 2, 3])],
    ['beyond 1 MiB', 'UPDATE_TOO_LARGE', () => new Uint8Array(1024 * 1024 + 1)],
    [
      'without what it builds on',
      'UPDATE_INCOMPLETE',
      (snapshot: Uint8Array) => {
        const person = new Person('77', snapshot)
        person.change(() => person.text(0).insert(0, 'a'))
        return person.change(() => person.text(0).insert(0, 'b'))
      },
    ],
  ])('%s is refused, and nothing is recorded', async (_, code, make) => {
    const { ports, gateway } = await world()
    const id = await made(gateway, '<p>Hello</p>')
    const before = await typesOf(ports, id)
    const update = make((await gateway.snapshot(id)).bytes)
    await expect(gateway.import(id, update, BOB)).rejects.toMatchObject({ code })
    expect(await typesOf(ports, id)).toEqual(before)
    expect(await textsOf(gateway, id)).toEqual(['Hello'])
  })

  test('under the peer of the gateway is refused', async () => {
    const { ports, gateway } = await world()
    const id = await made(gateway, '<p>Hello</p>')
    const [created] = await eventsOf(ports, documentStream(id))
    if (created?.type !== 'document_created') throw new Error('not created')
    const person = new Person(created.body.gatewayPeer, (await gateway.snapshot(id)).bytes)
    const update = person.change(() => person.text(0).insert(0, 'x'))
    await expect(gateway.import(id, update, BOB)).rejects.toMatchObject({ code: 'UPDATE_OF_GATEWAY' })
  })
})
