import { KeyedMutex } from '../../stream/runtime/concurrency.ts'
import { history } from '../../stream/runtime/history.ts'
import { document, documentStream } from '../stream/aggregate.ts'
import { isUpdate, updateBytes } from '../stream/events.ts'
import { OperationOwners } from './operation-owners.ts'
import type { DocumentPorts } from './types.ts'

/** The maximum number of cached documents. An update takes about 50 bytes of memory. */
const MAX_KEPT = 4

interface Known {
  readonly owners: OperationOwners
  /** The last revision that was read. */
  to: number
}

/**
 * The update that contains each operation of a document. Reads the stream once; later calls read only new events.
 * Owners beyond a revision do not affect the operations up to it.
 */
export class KnownOwners {
  readonly #ports: DocumentPorts
  readonly #known = new Map<string, Known>()
  readonly #reading = new KeyedMutex()

  constructor(ports: DocumentPorts) {
    this.#ports = ports
  }

  /** The owners of at least all operations up to a revision. */
  upTo(documentId: string, revision: number): Promise<OperationOwners> {
    return this.#reading.run(documentId, async () => {
      const known = this.#known.get(documentId) ?? { owners: new OperationOwners(), to: -1 }
      await this.#read(documentId, known, revision)
      this.#keep(documentId, known)
      return known.owners
    })
  }

  async #read(documentId: string, known: Known, to: number): Promise<void> {
    if (known.to >= to) return
    const { documents } = this.#ports
    for await (const page of history(this.#ports, document, documentStream(documentId), { from: known.to + 1, to })) {
      for (const { event } of page) {
        if (isUpdate(event)) known.owners.add(documents.operations(updateBytes(event)), event.revision)
        known.to = event.revision
      }
    }
  }

  /** Moves a document to the end: the map is ordered from least to most recently used. */
  #keep(documentId: string, known: Known): void {
    this.#known.delete(documentId)
    this.#known.set(documentId, known)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_KEPT) this.#known.delete(oldest!)
  }
}
