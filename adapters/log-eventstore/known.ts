/** One of our events in the whole log. */
export interface Spot {
  readonly position: number
  readonly hash: string
}

/** None of our events stands between `after` and `position`, where an event of anybody bears `id`. */
export interface Looked {
  readonly after: number
  readonly position: number
  readonly id: string
}

/**
 * How far the whole log is known: one of our events, and how far it was looked through. Whoever looks on begins there, so
 * that what others write into the same server is looked through once and not at each call. Both are claims about a log
 * that may have been put back to an older state meanwhile: who begins there makes sure that they hold.
 */
export class Known {
  #last: Spot | null = null
  #looked: Looked | null = null

  get last(): Spot | null {
    return this.#last
  }

  note({ position, hash }: Spot): void {
    if (position > (this.#last?.position ?? -1)) this.#last = { position, hash }
  }

  look(looked: Looked): void {
    this.#looked = looked
  }

  /** How far it was looked through after one of our events, if further than that. */
  beyond({ position }: Spot): Looked | null {
    const looked = this.#looked
    return looked && looked.after <= position && position < looked.position ? looked : null
  }

  forget(): void {
    this.#last = null
    this.#looked = null
  }
}
