import type { Header } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import type { Decoding, StreamEvent } from '../aggregate.ts'
import { erasureEvents, RESIDUE, type Residue } from '../erasure.ts'
import { bodyOf } from './bodies.ts'
import type { ReadStores } from './ports.ts'

/**
 * The residues of a stream's erased bodies. Reads the residues on first use. If one is missing, reads the events that
 * were appended since.
 */
export class Residues<Event extends StreamEvent> {
  /** The revisions of the `residue` events of another shape, which keepup never writes. They restore nothing. */
  readonly malformed = new Set<number>()
  private readonly stores: ReadStores
  private readonly decoding: Decoding<Event>
  private readonly stream: string
  private readonly found = new Map<number, Residue>()
  /** The stream was read from `from` up to, but not including, `next`. */
  private from = Number.POSITIVE_INFINITY
  private next = 0

  constructor(stores: ReadStores, decoding: Decoding<Event>, stream: string) {
    this.stores = stores
    this.decoding = decoding
    this.stream = stream
  }

  /** The event of an erased body, rebuilt from its residue for the fold; null: there is no residue. */
  async of(header: Header): Promise<Event | null> {
    const after = header.revision + 1
    if (after < this.from) {
      this.from = after
      this.next = after
    }
    if (!this.found.has(header.revision)) await this.read()
    const kept = this.found.get(header.revision)
    return kept === undefined ? null : this.decoding.decodeKept(header, kept)
  }

  /** A residue is appended after the body that it replaces. Reads only the bodies of residues, one by one. */
  private async read(): Promise<void> {
    const places: number[] = []
    let next = this.next
    for await (const page of this.stores.log.read(this.stream, { from: next, bodies: false })) {
      for (const { header } of page) if (header.type === RESIDUE) places.push(header.revision)
      next += page.length
    }
    for (const revision of places) {
      for await (const [recorded] of this.stores.log.read(this.stream, { from: revision, limit: 1 })) {
        if (recorded === undefined || recorded.erased) continue
        const bytes = await bodyOf(this.stores, recorded).catch(lost)
        const event = bytes && this.decoding.decode(recorded.header, bytes)
        if (event?.type !== RESIDUE) continue
        const { data } = erasureEvents.residue.safeParse(event.body)
        for (const kept of data?.bodies ?? []) this.found.set(kept.revision, kept)
        if (data === undefined) this.malformed.add(revision)
      }
    }
    this.next = next
  }
}

/** Null if the blob of a `residue` event is missing: the event then restores nothing. Rethrows every other error. */
function lost(error: unknown): null {
  if (error instanceof LogError && error.code === 'BLOB_MISSING') return null
  throw error
}
