import { decode, decodeKept } from '../../agent/events/codec.ts'
import type { AgentEvent, BodyOf } from '../../agent/events/events.ts'
import type { Header } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { bodyOf, type Stores } from '../history/bodies.ts'

type Kept = BodyOf<'residue'>['bodies'][number]

/** What erasures have left of a stream's bodies. Read when it is first asked for, and on where there may be more since. */
export class Residues {
  private readonly stores: Stores
  private readonly stream: string
  private readonly found = new Map<number, Kept>()
  /** It was read from here, up to before `next`. */
  private from = Number.POSITIVE_INFINITY
  private next = 0

  constructor(stores: Stores, stream: string) {
    this.stores = stores
    this.stream = stream
  }

  /** The event of an erased body as the fold can go on with it; null where nothing was kept of it. */
  async of(header: Header): Promise<AgentEvent | null> {
    const after = header.revision + 1
    if (after < this.from) {
      this.from = after
      this.next = after
    }
    if (!this.found.has(header.revision)) await this.read()
    const kept = this.found.get(header.revision)
    return kept === undefined ? null : decodeKept(header, kept)
  }

  /** They stand after the end of the run, and their bodies are read one by one: the bodies before them are not needed. */
  private async read(): Promise<void> {
    const places: number[] = []
    let next = this.next
    for await (const page of this.stores.log.read(this.stream, { from: next, bodies: false })) {
      for (const { header } of page) if (header.type === 'residue') places.push(header.revision)
      next += page.length
    }
    for (const revision of places) {
      for await (const [recorded] of this.stores.log.read(this.stream, { from: revision, limit: 1 })) {
        if (recorded === undefined || recorded.erased) continue
        const bytes = await bodyOf(this.stores, recorded).catch(lost)
        const event = bytes && decode(recorded.header, bytes)
        if (event?.type === 'residue') for (const kept of event.body.bodies) this.found.set(kept.revision, kept)
      }
    }
    this.next = next
  }
}

/** Where the blob store has lost it there is nothing left of those bodies. */
function lost(error: unknown): null {
  if (error instanceof LogError && error.code === 'BLOB_MISSING') return null
  throw error
}
