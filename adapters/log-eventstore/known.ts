import type { Position } from '@eventstore/db-client'

/** One of our events in the whole log. */
export interface Spot {
  readonly position: number
  readonly hash: string
}

/**
 * How far the whole log is known: one of our events, and a place up to which none of ours comes after it. Whoever looks on
 * begins there, so that what others write into the same server is looked through once and not at each call.
 */
export class Known {
  #last: Spot | null
  #looked: Position | null = null

  constructor(last: Spot | null = null) {
    this.#last = last
  }

  get last(): Spot | null {
    return this.#last
  }

  /** Where to look on; null: from the start. */
  get from(): Position | null {
    const { position = -1 } = this.#last ?? {}
    if (this.#looked && this.#looked.commit > BigInt(position)) return this.#looked
    return this.#last && { commit: BigInt(position), prepare: BigInt(position) }
  }

  /** One of our events stands there. */
  note({ position, hash }: Spot): void {
    if (position > (this.#last?.position ?? -1)) this.#last = { position, hash }
  }

  /** All of ours up to there were noted. */
  look(position: Position): void {
    if (position.commit > (this.#looked?.commit ?? -1n)) this.#looked = position
  }

  /** Takes over what another one has found that looked at all streams. */
  learn({ last, from }: Known): void {
    if (!last || !from) return
    this.note(last)
    this.look(from)
  }

  /** What is known after a place: the place alone where this was not so far yet. */
  after(spot: Spot | null): Known {
    const known = new Known(spot)
    if (this.#looked && spot && spot.position >= (this.#last?.position ?? Number.POSITIVE_INFINITY))
      known.look(this.#looked)
    return known
  }

  /** A server that was started anew may hold an older state, of which only our events can be told. */
  doubt(): void {
    this.#looked = null
  }

  forget(): void {
    this.#last = null
    this.#looked = null
  }
}
