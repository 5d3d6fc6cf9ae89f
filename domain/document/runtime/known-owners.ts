import { KeyedMutex } from '../../stream/runtime/concurrency.ts'
import { history } from '../../stream/runtime/history.ts'
import { document, documentStream } from '../stream/aggregate.ts'
import { isUpdate, updateBytes } from '../stream/events.ts'
import { OperationOwners } from './operations.ts'
import type { DocumentPorts } from './types.ts'

/** Documents whose owners are kept: an update takes about 50 bytes of memory. */
const MAX_KEPT = 4

interface Known {
  readonly owners: OperationOwners
  /** The last revision whose update is among them. */
  to: number
}

/**
 * Which update brought each operation of a document. The stream is read once: a later question reads what has come since. What
 * is known beyond a revision changes nothing about the operations up to it.
 */
export class KnownOwners {
  readonly #ports: DocumentPorts
  readonly #known = new Map<string, Known>()
  readonly #reading = new KeyedMutex()

  constructor(ports: DocumentPorts) {
    this.#ports = ports
  }

  /** The owners of all operations up to a revision, at least. */
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

  /** The last one in the order of insertion is the one used last. */
  #keep(documentId: string, known: Known): void {
    this.#known.delete(documentId)
    this.#known.set(documentId, known)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_KEPT) this.#known.delete(oldest!)
  }
}
