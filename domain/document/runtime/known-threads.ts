import { ERASED_FACT } from '../../log/erased.ts'
import { isKeyed } from '../../log/ids.ts'
import { KeyedMutex } from '../../stream/runtime/concurrency.ts'
import { history } from '../../stream/runtime/history.ts'
import { document, documentStream } from '../stream/aggregate.ts'
import { foldThread, THREAD_EVENTS, type Thread } from '../stream/threads.ts'
import type { DocumentPorts } from './types.ts'

/** The maximum number of cached documents. */
const MAX_KEPT = 64

interface Known {
  readonly threads: Map<string, Thread>
  /** The revisions of replies by the command ids of requests with a key. */
  readonly replies: Map<string, number>
  /** The last revision that was read. */
  to: number
}

const TYPES = [...THREAD_EVENTS, ERASED_FACT]

const nothing = (): Known => ({ threads: new Map(), replies: new Map(), to: -1 })

/** The comments and suggestions of documents. Reads a stream once; later calls read only new events. */
export class KnownThreads {
  readonly #ports: DocumentPorts
  readonly #known = new Map<string, Known>()
  readonly #reading = new KeyedMutex()

  constructor(ports: DocumentPorts) {
    this.#ports = ports
  }

  /** The comments and suggestions at least up to a revision, in the order in which they were added. */
  async upTo(documentId: string, revision: number): Promise<ReadonlyMap<string, Thread>> {
    return (await this.#upTo(documentId, revision)).threads
  }

  /** The revision of the reply that a request with a key added, up to a revision, or null. */
  async replyOf(documentId: string, revision: number, commandId: string): Promise<number | null> {
    return (await this.#upTo(documentId, revision)).replies.get(commandId) ?? null
  }

  /** Drops what is known of a document, of which a text was erased. */
  forget(documentId: string): Promise<void> {
    return this.#reading.run(documentId, async () => void this.#known.delete(documentId))
  }

  #upTo(documentId: string, revision: number): Promise<Known> {
    return this.#reading.run(documentId, async () => {
      const before = this.#known.get(documentId) ?? nothing()
      // After a failure the next call reads from the start.
      this.#known.delete(documentId)
      const known = await this.#read(documentId, before, revision)
      this.#known.set(documentId, known)
      const [oldest] = this.#known.keys()
      if (this.#known.size > MAX_KEPT) this.#known.delete(oldest!)
      return known
    })
  }

  async #read(documentId: string, known: Known, to: number): Promise<Known> {
    if (known.to >= to) return known
    const { threads, replies, to: before } = known
    const part = { from: before + 1, to, types: TYPES }
    for await (const page of history(this.#ports, document, documentStream(documentId), part))
      for (const { event } of page) {
        // An erasure empties events that were read before.
        if (event.type === 'erased' && before >= 0) return this.#read(documentId, nothing(), to)
        foldThread(threads, event)
        if (event.type === 'reply_added' && isKeyed(event.commandId)) replies.set(event.commandId, event.revision)
      }
    return { threads, replies, to }
  }
}
