import type { RecordedEvent, SealedEvent } from '../../domain/log/envelope.ts'
import { Lru } from '../memory/lru.ts'

const KEPT = 20_000

/** The event that the next event of a stream is chained to. */
export interface Tip {
  readonly revision: number
  readonly hash: string
  /** ISO 8601. */
  readonly timestamp: string
}

export const tipOf = ({ header, hash }: SealedEvent): Tip => ({
  revision: header.revision,
  hash,
  timestamp: header.timestamp,
})

/**
 * The latest event of each stream that this process has seen. The stream may have later events. A known event never
 * changes.
 */
export class Tips {
  #known = new Lru<string, Tip>(KEPT)

  note(event: SealedEvent | RecordedEvent): void {
    const { stream, revision } = event.header
    if ((this.#known.get(stream)?.revision ?? -1) < revision) this.#known.set(stream, tipOf(event))
  }

  /** The stream's tip if it has this revision. */
  at(stream: string, revision: number): Tip | undefined {
    const tip = this.#known.get(stream)
    return tip?.revision === revision ? tip : undefined
  }

  last(stream: string): Tip | undefined {
    return this.#known.get(stream)
  }

  forget(): void {
    this.#known = new Lru(KEPT)
  }
}
