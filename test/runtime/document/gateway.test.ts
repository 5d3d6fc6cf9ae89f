import { describe, expect, onTestFinished, test } from 'vitest'
import { MemoryLog } from '../../../adapters/log-memory/log.ts'
import { openSqliteLog } from '../../../adapters/log-sqlite/open.ts'
import { document, documentStream, REFUSED_STREAM } from '../../../domain/document/stream/aggregate.ts'
import { canonicalText } from '../../../domain/log/canonical.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import type { EventLog } from '../../../domain/ports.ts'
import { PIECE } from '../../../domain/runtime/document/answers.ts'
import { RawBody } from '../../../domain/runtime/document/received.ts'
import { stays } from '../../../domain/runtime/document/replica-cache.ts'
import { verifyStream } from '../../../domain/runtime/stream/verify.ts'
import { Person } from '../../support/documents/person.ts'
import {
  ANN,
  BOB,
  DocumentGateway,
  eventsOf,
  KeptSnapshots,
  made,
  portsOver,
  replaceFirst,
  requestFor,
  textsOf,
  typesOf,
} from '../../support/documents/runtime.ts'
import { tempFolder } from '../../support/folders.ts'
import { BEFORE } from '../../support/sealing.ts'

const LOGS: readonly [string, () => Promise<EventLog>][] = [
  ['memory', async () => new MemoryLog({ clock: BEFORE })],
  ['sqlite', () => openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE })],
]

async function world(open: () => Promise<EventLog> = LOGS[0]![1]) {
  const log = await open()
  onTestFinished(() => log.close())
  const ports = portsOver(log)
  const gateway = new DocumentGateway(ports)
  onTestFinished(() => gateway.close())
  /** Another process over the same log. */
  const another = () => {
    const other = new DocumentGateway({ ...portsOver(log), blobs: ports.blobs })
    onTestFinished(() => other.close())
    return other
  }
  return { ports, gateway, another }
}

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

describe('snapshots of the replica', () => {
  type Kept = { sum: string; state: { root: string }; bytes: string }

  async function long() {
    const { ports } = await world()
    const snapshots = new KeptSnapshots()
    const gateway = new DocumentGateway({ ...ports, snapshots })
    const id = await made(gateway, '<p>Hello</p>')
    const person = new Person('77', (await gateway.snapshot(id)).bytes)
    for (let n = 0; n < 1010; n++)
      await gateway.import(
        id,
        person.change(() => person.text(0).insert(0, `${n % 10}`)),
        BOB,
      )
    await gateway.close()
    const places = [`${documentStream(id)}#replica-newest 1`, `${documentStream(id)}#replica 1`]
    const kept = places.map((place) => snapshots.held.get(place)![0]!)
    /** Puts another state in both places. */
    const replace = (change: (state: Kept) => Kept) =>
      places.forEach((place, i) => {
        const state = change(structuredClone(kept[i]!.state) as never)
        snapshots.held.set(place, [{ ...kept[i]!, state: state as never }])
      })
    return { ports, snapshots, id, kept, replace, text: person.text(0).toString() }
  }

  test('open a document without the updates before them; one that is damaged or altered is left aside and reported', async () => {
    const { ports, snapshots, id, kept, replace, text } = await long()
    const opened: number[] = []
    const documents: typeof ports.documents = {
      ...ports.documents,
      async open(stored) {
        const updates = await Array.fromAsync(stored.updates)
        opened.push(updates.length)
        return ports.documents.open({ ...stored, updates })
      },
    }
    const told: string[] = []
    const warn = (of: string, message: string) => void told.push(`${of}: ${message}`)
    const open = async () => {
      const gateway = new DocumentGateway({ ...ports, snapshots, documents, warn })
      expect((await textsOf(gateway, id))[0]).toBe(text)
      await gateway.close()
    }
    await open()
    expect([opened.at(-1)! < 20, told]).toEqual([true, []])
    const { sum } = kept[0]!.state as unknown as Kept
    replace((state) => ({ ...state, bytes: `${state.bytes.slice(0, 40)}AAAA${state.bytes.slice(44)}` }))
    await open()
    expect(opened.at(-1)).toBe(1011)
    const isDamaged = expect.stringMatching(`^${id}: no snapshot of the document .* it is damaged$`)
    expect(told.splice(0)).toEqual([isDamaged, isDamaged])
    // A root that the log does not have, under a sum that fits.
    const { revision } = kept[0]!.state as unknown as { revision: number }
    replace((state) => {
      state.state.root = 'f'.repeat(64)
      return {
        ...state,
        sum: sha256(`${documentStream(id)}@${revision}\n${canonicalText(state.state)}\n${state.bytes}`),
      }
    })
    expect((snapshots.held.get(`${documentStream(id)}#replica 1`)![0]!.state as unknown as Kept).sum).not.toBe(sum)
    await open()
    expect(opened.at(-1)).toBe(1011)
    expect(told).toEqual([expect.stringContaining('differs from the recorded one')])
  })

  test('are one that is newest and some that stay, which grow with the document and not with its square', () => {
    let [last, staying] = [0, 0]
    for (let updates = 1000; updates <= 1_000_000; updates += 1000) {
      staying += stays(last, updates) ? updates : 0
      last = updates
    }
    expect(staying / 1_000_000).toBeLessThan(12)
    expect([stays(999, 1000), stays(1000, 1999), stays(1000, 2500), stays(80_000, 81_000)]).toEqual([
      ...[true, false, true, false],
    ])
  })
})

describe('the index of answered requests', () => {
  async function answered(count: number) {
    const { ports } = await world()
    const snapshots = new KeptSnapshots()
    const gateway = new DocumentGateway({ ...ports, snapshots })
    const id = await made(gateway, '<p>Hello</p>')
    // Refusals are the cheapest answers.
    const request = await requestFor(gateway, id, 'r', replaceFirst('<script>x</script>'))
    const other = request.ops_xml.replace('>x<', '>y<')
    const send = (of: DocumentGateway, n: number, ops_xml = request.ops_xml) =>
      of.envelope(id, { ...request, ops_xml, client_request_id: `r${n}` }, ANN)
    for (let n = 0; n < count; n++) await send(gateway, n)
    await gateway.close()
    const headers: number[] = []
    const { log } = ports
    const readLog = log.read.bind(log)
    /** Counts the headers that are read. */
    log.read = async function* (stream, options) {
      for await (const page of readLog(stream, options)) {
        if (options?.bodies === false) headers.push(page.length)
        yield page
      }
    }
    const open = () => {
      headers.length = 0
      return new DocumentGateway({ ...ports, snapshots })
    }
    const read = () => headers.reduce((sum, n) => sum + n, 0)
    const place = `${documentStream(id)}#answers 1`
    return { snapshots, open, read, send, other, place }
  }

  test('is kept in pieces, so that an opening reads few headers; a damaged or foreign piece is left aside', async () => {
    const { snapshots, open, read, send, other, place } = await answered(PIECE + 10)
    const again = async () => {
      const gateway = open()
      const reused = [await send(gateway, 3, other), await send(gateway, PIECE + 5, other)]
      await gateway.close()
      return reused.map(({ body }) => 'code' in body && body.code)
    }
    const [piece] = snapshots.held.get(place)!
    const both = ['AI_IDEMPOTENCY_KEY_REUSED', 'AI_IDEMPOTENCY_KEY_REUSED']
    expect([await again(), read() < 100]).toEqual([both, true])
    const state = piece!.state as { answers: [string, number][]; hash: string }
    snapshots.held.set(place, [{ ...piece!, state: { ...state, answers: state.answers.slice(1) } as never }])
    expect([await again(), read() > 2 * PIECE]).toEqual([both, true])
    // A piece whose sum fits, of a log with another event there.
    const { from, to } = state as never as { from: number; to: number }
    const hash = 'f'.repeat(64)
    const stream = place.split('#')[0]
    const sum = sha256(`${stream}@${from}-${to}\n${hash}\n[]`)
    snapshots.held.set(place, [{ ...piece!, state: { from, to, answers: [], hash, sum } as never }])
    expect([await again(), read() > 2 * PIECE]).toEqual([both, true])
    // A piece that does not begin where the one before it ends.
    const late = { from: 7, to, answers: state.answers.slice(3), hash: state.hash }
    const lateSum = sha256(`${stream}@7-${to}\n${late.hash}\n${JSON.stringify(late.answers)}`)
    snapshots.held.set(place, [{ ...piece!, state: { ...late, sum: lateSum } as never }])
    expect([await again(), read() > 2 * PIECE]).toEqual([both, true])
  })
})
