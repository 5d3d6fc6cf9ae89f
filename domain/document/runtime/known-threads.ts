import { ERASED_FACT } from '../../log/erased.ts'
import { KeyedMutex } from '../../stream/runtime/concurrency.ts'
import { history } from '../../stream/runtime/history.ts'
import { document, documentStream } from '../stream/aggregate.ts'
import { foldThread, THREAD_EVENTS, type Thread } from '../stream/threads.ts'
import type { DocumentPorts } from './types.ts'

/** The maximum number of cached documents. */
const MAX_KEPT = 64

interface Known {
  readonly threads: Map<string, Thread>
  /** The last revision that was read. */
  to: number
}

const TYPES = [...THREAD_EVENTS, ERASED_FACT]

/** The comments and suggestions of documents. Reads a stream once; later calls read only new events. */
export class KnownThreads {
  readonly #ports: DocumentPorts
  readonly #known = new Map<string, Known>()
  readonly #reading = new KeyedMutex()

  constructor(ports: DocumentPorts) {
    this.#ports = ports
  }

  /** The comments and suggestions at least up to a revision, in the order in which they were added. */
  upTo(documentId: string, revision: number): Promise<ReadonlyMap<string, Thread>> {
    return this.#reading.run(documentId, async () => {
      const before = this.#known.get(documentId) ?? { threads: new Map(), to: -1 }
      // After a failure the next call reads from the start.
      this.#known.delete(documentId)
      const known = await this.#read(documentId, before, revision)
      this.#known.set(documentId, known)
      const [oldest] = this.#known.keys()
      if (this.#known.size > MAX_KEPT) this.#known.delete(oldest!)
      return known.threads
    })
  }

  async #read(documentId: string, known: Known, to: number): Promise<Known> {
    if (known.to >= to) return known
    const { threads, to: before } = known
    const part = { from: before + 1, to, types: TYPES }
    for await (const page of history(this.#ports, document, documentStream(documentId), part))
      for (const { event } of page) {
        // An erasure empties events that were read before.
        if (event.type === 'erased' && before >= 0) return this.#read(documentId, { threads: new Map(), to: -1 }, to)
        foldThread(threads, event)
      }
    return { threads, to }
  }
}
