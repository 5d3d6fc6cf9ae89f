import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LoroDoc } from 'loro-crdt'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { loroDocuments } from '../../../adapters/loro/documents.ts'
import { parseXml } from '../../../adapters/loro/xml/parse.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { SqliteSnapshots } from '../../../adapters/sqlite/snapshots.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import { systemRandom } from '../../../api/process/host/random.ts'
import { blockText } from '../../../domain/document/model/block.ts'
import { contextHash } from '../../../domain/document/model/context-hash.ts'
import { DocumentGateway } from '../../../domain/document/runtime/gateway.ts'
import type { DocumentAt, DocumentCaller } from '../../../domain/document/runtime/types.ts'
import { documentStream } from '../../../domain/document/stream/aggregate.ts'
import { decode } from '../../../domain/document/stream/codec.ts'
import { isUpdate, updateBytes } from '../../../domain/document/stream/events.ts'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import type { Header } from '../../../domain/log/envelope.ts'
import type { Head } from '../../../domain/ports/index.ts'
import { bodyOf } from '../../../domain/stream/runtime/bodies.ts'
import { headOfEvent } from '../../../domain/stream/runtime/history.ts'
import { chained, type Unsealed } from '../../../domain/stream/sealing.ts'
import { type Figure, least, megabytes, micros, most, ms, rate } from '../figure.ts'
import { timed } from '../measure.ts'
import { blockOf, sentence } from './history.ts'
import { requestOf, writeLong } from './long-log.ts'

const CALLER: DocumentCaller = { by: { kind: 'user', id: 'bench' }, name: 'user:bench' }
/** Enough for a snapshot of the replica to be kept. */
const WARM = 1_100
const TIMES = 500

export async function openPlace() {
  const folder = mkdtempSync(join(tmpdir(), 'keepup-bench-'))
  const at = join(folder, 'log')
  const log = await openSqliteLog({ folder: at, mode: 'owner', clock: new SystemClock(), random: systemRandom })
  const snapshots = SqliteSnapshots.open(join(folder, 'snapshots.db'), (path) => rmSync(path, { force: true }))
  const blobs = new FileBlobs(join(folder, 'blobs'))
  const gateway = () =>
    new DocumentGateway({
      ...{ log, blobs, snapshots, clock: new SystemClock(), random: systemRandom },
      ...{ documents: loroDocuments, parse: parseXml },
    })
  const size = () => readdirSync(at).reduce((sum, name) => sum + statSync(join(at, name)).size, 0)
  const close = async () => {
    await log.close()
    snapshots.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { log, blobs, gateway, size, close }
}

/** The whole gateway over the embedded log: envelopes one after the other, and the opening of a long document. */
export async function wholeGateway(
  history: number,
  snapshot: Uint8Array,
  updates: readonly Uint8Array[],
): Promise<Figure[]> {
  const place = await openPlace()
  const at = `at ${history.toLocaleString('en-US')} edits, with the log`
  try {
    await writeLong(place.log, systemRandom, 'd1', updates)
    const warm = place.gateway()
    let n = history
    let seen = await warm.read('d1')
    const spans = textsOf(seen)
    const send = async (gateway: DocumentGateway) => {
      const span = blockOf(n)
      const request = requestOf(n, seen.frontier, contextHash(span, spans.get(span)!))
      const answer = await gateway.envelope('d1', request, CALLER)
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      seen = { ...seen, frontier: answer.body.applied_frontier }
      spans.set(span, sentence(n))
      n += 1
    }
    for (let i = 0; i < WARM; i++) await send(warm)
    const before = (await place.log.head(documentStream('d1')))!.revision
    const bytesBefore = place.size()
    const walls: number[] = []
    const took = await timed(async () => {
      for (let i = 0; i < TIMES; i++) walls.push((await timed(() => send(warm))).ms)
    })
    const stored = await storedAfter(place, before)
    const bytes = (place.size() - bytesBefore) / TIMES
    await warm.close()

    const cold = place.gateway()
    const opened = await timed(() => cold.read('d1'))
    const first = await timed(() => send(cold))
    await cold.close()

    const reader = LoroDoc.fromSnapshot(snapshot)
    for (const update of stored.earlier) reader.import(update)
    const imported = await timed(() => {
      for (const update of stored.updates) reader.import(update)
    })
    const alone = await appendedAlone(place, stored.events)
    const [cpu, floor, log] = [took.cpuMs / TIMES, imported.cpuMs / TIMES, alone.cpuMs / TIMES]
    const p99 = walls.toSorted((a, b) => a - b)[Math.ceil(TIMES * 0.99) - 1]!
    const update = stored.updates.reduce((sum, { length }) => sum + length, 0) / TIMES
    const allowed = 2 * update + stored.headers / TIMES
    const long = history >= 10_000
    const perSecond = (TIMES * 1000) / took.ms
    return [
      {
        name: `envelopes ${at}`,
        ours: rate(perSecond, 'envelopes'),
        floor: '',
        value: perSecond,
        goal: long ? least(500, '/s') : null,
      },
      { name: `p99 of an envelope ${at}`, ours: ms(p99), floor: '', value: p99, goal: long ? most(20, ' ms') : null },
      {
        name: `CPU of an envelope ${at}`,
        ours: micros(cpu * 1000),
        floor: `${micros(floor * 1000)} import, ${micros(log * 1000)} append`,
        value: cpu / floor,
        goal: long ? most(4, ' ×') : null,
      },
      {
        name: `cold open ${at}`,
        ours: ms(opened.ms),
        floor: `CPU ${ms(opened.cpuMs)}`,
        value: opened.ms,
        goal: long ? most(300, ' ms') : null,
      },
      {
        name: `first envelope after it ${at}`,
        ours: ms(first.ms),
        floor: `CPU ${ms(first.cpuMs)}`,
        value: first.ms,
        goal: null,
      },
      {
        name: `stored bytes per edit ${at}`,
        ours: `${Math.round(bytes)} B`,
        floor: `${Math.round(update)} B update, ${Math.round(stored.headers / TIMES)} B headers, ${Math.round(stored.requests / TIMES)} B request`,
        value: bytes / allowed,
        goal: long ? most(1, ' × of 2 updates and headers') : null,
      },
    ]
  } finally {
    await place.close()
  }
}

const textsOf = ({ blocks }: DocumentAt) => new Map(blocks.map((block) => [block.id!, blockText(block as never)]))

/** The stored bytes of the measured envelopes before compression, and of the updates before them. */
async function storedAfter({ log, blobs }: Awaited<ReturnType<typeof openPlace>>, revision: number) {
  const [earlier, updates]: [Uint8Array[], Uint8Array[]] = [[], []]
  const events: Unsealed[] = []
  let [headers, requests] = [0, 0]
  for await (const page of log.read(documentStream('d1'), { from: Math.max(0, revision + 1 - 2 * WARM) }))
    for (const recorded of page) {
      const body = await bodyOf({ log, blobs }, recorded)
      const event = decode(recorded.header, body)
      const isMeasured = event.revision > revision
      if (isUpdate(event)) (isMeasured ? updates : earlier).push(updateBytes(event))
      else if (isMeasured) requests += body.length
      if (!isMeasured) continue
      headers += canonicalBytes(recorded.header).length
      events.push({ header: recorded.header, body: { bytes: body, header: recorded.header.body } })
    }
  return { earlier, updates, headers, requests, events }
}

/** The same events appended once more to a stream of their own, two at a time: what durability alone takes. */
async function appendedAlone({ log }: Awaited<ReturnType<typeof openPlace>>, events: readonly Unsealed[]) {
  const stream = documentStream('d2')
  const timestamp = new Date(log.floor()).toISOString()
  let head: Head | null = null
  return timed(async () => {
    for (let i = 0; i < events.length; i += 2) {
      const two = events.slice(i, i + 2).map(({ header, body }) => ({ header: { ...header, timestamp }, body }))
      const sealed = chained(stream, head, two.map(unplaced), new Set())
      await log.append(stream, head?.revision ?? -1, sealed)
      head = headOfEvent(sealed.at(-1)!)
    }
  })
}

/** Without the members that the place in a stream decides. */
const unplaced = ({ header, body }: Unsealed): Unsealed => {
  const { format: _, stream: __, revision: ___, body: ____, minReader: _____, ...rest } = header as Header
  return { header: rest, body }
}

/** Memory while documents are used in turn: how much more it is after all of them than after the first third. */
export async function inTurn(documents: number): Promise<Figure[]> {
  const place = await openPlace()
  try {
    const gateway = place.gateway()
    const resident: number[] = []
    for (let n = 0; n < documents; n++) {
      const text = [{ text: sentence(n), marks: {} }]
      const blocks = Array.from({ length: 50 }, () => ({ type: 'paragraph' as const, attrs: {}, text }))
      const { documentId } = await gateway.create({ title: `Plan ${n}`, source: 'html', blocks }, CALLER)
      const { frontier } = await gateway.read(documentId)
      const ops_xml = '<insert_blocks after="start"><p>new</p></insert_blocks>'
      const request = { doc_frontier: frontier, client_request_id: 'r', ops_xml, preconditions: [] }
      const { status } = await gateway.envelope(documentId, request, CALLER)
      if (status !== 200) throw new Error(`answered ${status}`)
      globalThis.gc?.()
      resident.push(process.memoryUsage().rss)
    }
    await gateway.close()
    const [third, last] = [resident[Math.floor(documents / 3)]!, resident.at(-1)!]
    return [
      {
        name: `memory after ${documents} documents in turn`,
        ours: megabytes(last),
        floor: `${megabytes(third)} after a third of them`,
        value: last / third,
        goal: most(1.2, ' ×'),
      },
    ]
  } finally {
    await place.close()
  }
}
