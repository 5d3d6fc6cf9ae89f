import { decode, decodeKept } from '../../../domain/agent/events/codec.ts'
import type { AgentEvent, BodyOf } from '../../../domain/agent/events/events.ts'
import type { Header, RecordedEvent } from '../../../domain/log/envelope.ts'
import type { Reader } from './reader.ts'

type Kept = BodyOf<'residue'>['bodies'][number]

/**
 * The residues of a stream's erased bodies, for synchronous readers. The runtime's version is in
 * domain/runtime/erasure/residues.ts. Reads them at the first call. `bytesOf`: null if a body is missing.
 */
export class StreamResidues {
  readonly #reader: Reader
  readonly #stream: number
  readonly #bytesOf: (event: RecordedEvent) => Uint8Array | null
  #found: ReadonlyMap<number, Kept> | null = null

  constructor(reader: Reader, stream: number, bytesOf: (event: RecordedEvent) => Uint8Array | null) {
    this.#reader = reader
    this.#stream = stream
    this.#bytesOf = bytesOf
  }

  /** The event of an erased body in a form that the fold accepts; null if the body has no residue. */
  of(header: Header): AgentEvent | null {
    this.#found ??= this.#read(header.revision + 1)
    const kept = this.#found.get(header.revision)
    return kept === undefined ? null : decodeKept(header, kept)
  }

  #read(from: number): ReadonlyMap<number, Kept> {
    const found = new Map<number, Kept>()
    for (let next = from; ; ) {
      const page = this.#page(next, Number.MAX_SAFE_INTEGER, false)
      for (const { header } of page) {
        if (header.type !== 'residue') continue
        for (const recorded of this.#page(header.revision, header.revision, true)) {
          const bytes = this.#bytesOf(recorded)
          const event = bytes && decode(recorded.header, bytes)
          if (event?.type === 'residue') for (const kept of event.body.bodies) found.set(kept.revision, kept)
        }
      }
      if (page.length === 0) return found
      next = page.at(-1)!.header.revision + 1
    }
  }

  #page(from: number, to: number, bodies: boolean): RecordedEvent[] {
    return this.#reader.streamPage(this.#stream, from, to, to - from + 1, bodies)
  }
}
