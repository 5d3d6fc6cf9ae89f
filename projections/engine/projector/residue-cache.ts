import type { Header } from '../../../domain/log/envelope.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import type { Poison } from '../changes/poison.ts'
import type { ErasedResidues, StreamKind } from '../changes/stream-kind.ts'

/** The number of cached streams, because events of a few streams may interleave in a page. */
const STREAMS = 8

/** The residues of erased bodies, for the most recently used streams. */
export class ResidueCache {
  readonly #stores: { readonly log: EventLog; readonly blobs: BlobStore }
  readonly #streams = new Map<string, ErasedResidues>()
  constructor(stores: { readonly log: EventLog; readonly blobs: BlobStore }) {
    this.#stores = stores
  }

  /** The residue of an erased event; null: none. An unreadable residue is a fault of the event. */
  async of(kind: StreamKind, header: Header): Promise<{ readonly body: unknown } | null | { readonly poison: Poison }> {
    const { stream } = header
    const residues = this.#streams.get(stream) ?? kind.residues(this.#stores, stream)
    this.#streams.delete(stream)
    this.#streams.set(stream, residues)
    if (this.#streams.size > STREAMS) this.#streams.delete(this.#streams.keys().next().value!)
    try {
      return await residues.of(header)
    } catch (error) {
      if (!(error instanceof LogError && error.code in POISON)) throw error
      return { poison: { code: POISON[error.code as keyof typeof POISON], message: error.message } }
    }
  }
}

const POISON = {
  UNKNOWN_EVENT: 'NEWER_VERSION',
  LOG_NEWER: 'NEWER_VERSION',
  LOG_CORRUPT: 'SHAPE',
  LOG_FOREIGN: 'UNREADABLE',
} as const
