import { loroDocuments } from '../../../adapters/loro/documents.ts'
import { parseXml } from '../../../adapters/loro/xml/parse.ts'
import { blockText } from '../../../domain/document/model/block.ts'
import { contextHash } from '../../../domain/document/model/context-hash.ts'
import { DocumentGateway } from '../../../domain/document/runtime/gateway.ts'
import type { DocumentCaller, DocumentPorts } from '../../../domain/document/runtime/types.ts'
import { documentStream } from '../../../domain/document/stream/aggregate.ts'
import { decode } from '../../../domain/document/stream/codec.ts'
import type { DocumentEvent } from '../../../domain/document/stream/events.ts'
import type { EventLog, Snapshot, SnapshotStore } from '../../../domain/ports/index.ts'
import { bodyOf } from '../../../domain/stream/runtime/bodies.ts'
import { MemoryBlobs, MemoryIntents, seededRandom } from '../harness.ts'
import { standing } from '../time/standing-clock.ts'
import { blocksFrom } from './gateway.ts'

export const ANN: DocumentCaller = { by: { kind: 'user', id: 'ann' }, name: 'user:ann' }
export const BOB: DocumentCaller = { by: { kind: 'user', id: 'bob' }, name: 'user:bob' }

export class KeptSnapshots implements SnapshotStore {
  readonly held = new Map<string, Snapshot[]>()
  async latest(stream: string, fold: number, upTo: { revision?: number }): Promise<Snapshot | null> {
    const all = this.held.get(`${stream} ${fold}`) ?? []
    return all.findLast(({ revision }) => revision <= (upTo.revision ?? Number.POSITIVE_INFINITY)) ?? null
  }
  async put(stream: string, fold: number, snapshot: Snapshot): Promise<void> {
    const key = `${stream} ${fold}`
    this.held.set(key, [...(this.held.get(key) ?? []), JSON.parse(JSON.stringify(snapshot))])
  }
  async clear(): Promise<void> {
    this.held.clear()
  }
}

let worlds = 0

export function portsOver(log: EventLog, more: Partial<DocumentPorts> = {}): DocumentPorts {
  return {
    ...{ log, blobs: new MemoryBlobs(), intents: new MemoryIntents(), clock: standing(Date.UTC(2026, 0, 18)) },
    random: seededRandom(`documents ${++worlds}`),
    documents: loroDocuments,
    parse: parseXml,
    ...more,
  }
}

/** Creates a document with these blocks; returns its id. */
export async function made(gateway: DocumentGateway, html: string): Promise<string> {
  const blocks = blocksFrom(html).map(({ id: _, ...block }) => block)
  const { documentId } = await gateway.create({ title: 'Plan', source: 'html', blocks: blocks as never }, ANN)
  return documentId
}

/** A request on the current blocks. `ops` receives their ids. */
export async function requestFor(
  gateway: DocumentGateway,
  documentId: string,
  id: string,
  ops: (ids: readonly string[]) => string,
  at: readonly number[] = [0],
) {
  const { blocks, frontier } = await gateway.read(documentId)
  const ids = blocks.map((block) => block.id!)
  const preconditions = at.map((n) => ({
    span_id: ids[n]!,
    if_match_context_hash: contextHash(ids[n]!, blockText(blocks[n] as never)),
  }))
  return { doc_frontier: frontier, client_request_id: id, ops_xml: ops(ids), preconditions }
}

export const replaceFirst = (text: string) => (ids: readonly string[]) =>
  `<replace_spans><span span_id="${ids[0]}">${text}</span></replace_spans>`

export async function textsOf(gateway: DocumentGateway, documentId: string): Promise<string[]> {
  return (await gateway.read(documentId)).blocks.map((block) => blockText(block as never))
}

export async function eventsOf({ log, blobs }: DocumentPorts, stream: string): Promise<DocumentEvent[]> {
  const events: DocumentEvent[] = []
  for await (const page of log.read(stream))
    for (const one of page) events.push(decode(one.header, await bodyOf({ log, blobs }, one)))
  return events
}

export const typesOf = async (ports: DocumentPorts, documentId: string): Promise<string[]> =>
  (await eventsOf(ports, documentStream(documentId))).map(({ type }) => type)

export { DocumentGateway }
