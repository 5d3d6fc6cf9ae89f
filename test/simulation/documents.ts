import { LoroDoc } from 'loro-crdt'
import { LoroDocument } from '../../adapters/loro/open-document.ts'
import { operationsOf } from '../../adapters/loro/operations.ts'
import { Replica } from '../../adapters/loro/replica.ts'
import { configureStyles } from '../../adapters/loro/styles.ts'
import { parseXml } from '../../adapters/loro/xml/parse.ts'
import type { EnvelopeAnswer } from '../../domain/document/envelope/answers.ts'
import { DocumentGateway } from '../../domain/document/runtime/gateway.ts'
import type { DocumentCaller } from '../../domain/document/runtime/types.ts'
import { decode } from '../../domain/document/stream/codec.ts'
import { isUpdate, updateBytes } from '../../domain/document/stream/events.ts'
import type { SealedEvent } from '../../domain/log/envelope.ts'
import { keyedCommand } from '../../domain/log/ids.ts'
import { kindOf } from '../../domain/log/owner.ts'
import { unsalted } from '../../domain/log/seal.ts'
import type { Documents } from '../../domain/ports/index.ts'
import type { StreamPorts } from '../../domain/stream/runtime/ports.ts'
import { Person } from '../support/documents/person.ts'
import type { Request } from './requests.ts'
import { Violation } from './scheduler.ts'

const DOCUMENT = 'plan'
const PEERS = ['11', '12']
const caller = (name: string): DocumentCaller => ({ by: { kind: 'user', id: name }, name: `user:${name}` })

/** Loro without late loading, which would take a turn of the event loop. */
const LORO: Documents = {
  operations: operationsOf,
  async open({ gatewayPeer, snapshot, updates }) {
    const stored: Uint8Array[] = []
    for await (const update of updates) stored.push(update)
    const peer = gatewayPeer as `${number}`
    return new LoroDocument(new Replica(peer, snapshot ?? null, stored), peer)
  },
}

/** A document that two people edit on replicas of their own, and an agent with envelopes, through any process. */
export class SimulatedDocuments {
  readonly #logId: string
  /** The document as the log has it, made from its updates alone. */
  readonly #fold = new LoroDoc()
  #people: readonly Person[] = []
  readonly #marks: string[] = []
  #asked = false
  #creations = 0
  #edits = 0

  constructor(logId: string) {
    this.#logId = logId
    configureStyles(this.#fold)
  }

  static gateway(ports: StreamPorts): DocumentGateway {
    return new DocumentGateway({ ...ports, documents: LORO, parse: parseXml })
  }

  /** Events have become durable. */
  written(batch: readonly SealedEvent[]): void {
    for (const { header, body } of batch) {
      if (kindOf(header.stream) !== 'document') continue
      if (header.type === 'document_created') this.#creations++
      const event = decode(header, unsalted(body!))
      if (isUpdate(event)) this.#fold.import(updateBytes(event))
    }
  }

  /** The next edit of somebody. */
  edit(which: number, roll: number): Request | null {
    if (!this.#asked) return this.#creation()
    if (this.#texts(this.#fold).length === 0) return null
    if (this.#people.length === 0) {
      const bytes = this.#fold.export({ mode: 'snapshot' })
      this.#people = PEERS.map((peer) => new Person(peer, bytes))
    }
    const mark = `e${++this.#edits};`
    const person = this.#people[which % (PEERS.length + 1)]
    return person === undefined ? this.#envelope(mark) : this.#update(person, mark, roll)
  }

  #creation(): Request {
    this.#asked = true
    const blocks = [{ type: 'paragraph', text: [{ text: 'begin', marks: {} }] }]
    const content = { title: 'Plan', source: 'html', blocks: blocks as never } as const
    return {
      what: 'create the document',
      send: ({ documents }, key) =>
        documents.create(content, caller('ann'), {
          documentId: DOCUMENT,
          commandId: keyedCommand(this.#logId, key, 'document'),
        }),
      done: () => {
        if (this.#creations !== 1)
          throw new Violation('an acknowledged document is in the log once', `${this.#creations} creations`)
      },
    }
  }

  /** A person types on an own replica, which has what the log had at some time, and sends what the log lacks. */
  #update(person: Person, mark: string, roll: number): Request {
    if (roll % 2 === 0) person.doc.import(this.#fold.export({ mode: 'update', from: person.doc.version() }))
    person.text(0).insert(0, mark)
    person.doc.commit()
    const bytes = person.doc.export({ mode: 'update', from: this.#fold.version() })
    return {
      what: `write ${mark}`,
      send: ({ documents }) => documents.import(DOCUMENT, bytes, caller(`peer${person.doc.peerIdStr}`)),
      done: () => this.#acknowledged(mark),
    }
  }

  /** A tool of an agent inserts a paragraph. The same body is sent until there is an answer. */
  #envelope(mark: string): Request {
    let body: object | null = null
    return {
      what: `insert ${mark}`,
      send: async ({ documents }, key) => {
        const ops_xml = `<insert_blocks after="start"><p>${mark}</p></insert_blocks>`
        if (body === null) {
          const { frontier } = await documents.read(DOCUMENT)
          // Another try may have made the body meanwhile.
          body ??= { doc_frontier: frontier, client_request_id: key, ops_xml, preconditions: [] }
        }
        return documents.envelope(DOCUMENT, body, caller('tool'))
      },
      done: (answer) => {
        const { status, body: said } = answer as EnvelopeAnswer
        if (status === 200) this.#acknowledged(mark)
        else if (status !== 409) throw new Violation('a valid edit is not refused', JSON.stringify(said))
      },
    }
  }

  #acknowledged(mark: string): void {
    this.#marks.push(mark)
    this.#mustHave(mark, 'the log')
  }

  #mustHave(mark: string, where: string, texts = this.#texts(this.#fold)): void {
    const times = texts.join('\n').split(mark).length - 1
    if (times !== 1)
      throw new Violation('an acknowledged edit is in the document once', `${mark} is ${times} times in ${where}`)
  }

  #texts(doc: LoroDoc): readonly string[] {
    const blocks = doc.getMovableList('blocks').toJSON() as { text?: string }[]
    return blocks.map(({ text = '' }) => text)
  }

  /** After the faults every replica converges, each acknowledged edit is there, and the document verifies. */
  async atEnd(gateways: readonly (readonly [name: string, gateway: DocumentGateway])[]): Promise<void> {
    const texts = this.#texts(this.#fold)
    if (texts.length === 0) return
    for (const mark of this.#marks) this.#mustHave(mark, 'the log at the end')
    const same = (where: string, other: readonly string[]) => {
      if (JSON.stringify(other) !== JSON.stringify(texts))
        throw new Violation('replicas of a document converge', `${where}: ${other.join('|')}, not ${texts.join('|')}`)
    }
    for (const person of this.#people) {
      person.doc.import(this.#fold.export({ mode: 'update', from: person.doc.version() }))
      same(`the replica ${person.doc.peerIdStr}`, this.#texts(person.doc))
    }
    for (const [name, gateway] of gateways) {
      const { bytes } = await gateway.snapshot(DOCUMENT)
      const doc = new LoroDoc()
      configureStyles(doc)
      doc.import(bytes)
      same(name, this.#texts(doc))
      const { ok, problems } = await gateway.history.verify(DOCUMENT)
      if (!ok) throw new Violation('every stream verifies', JSON.stringify(problems[0]))
    }
  }
}
