/** The place of one of keepup's events in the whole log. */
export interface Spot {
  readonly position: number
  readonly hash: string
}

/**
 * A searched part of the log without events of keepup: from `after` to `position`. `id`: the id of the event at
 * `position`, of any program.
 */
export interface Looked {
  readonly after: number
  readonly position: number
  readonly id: string
}

/**
 * The known part of the whole log: one of keepup's events, and the end of the searched part. The next search starts
 * there, so that events of other programs are searched once and not at each call. Both may be wrong after a restore of
 * the log to an older state, so each search checks them first.
 */
export class Known {
  #last: Spot | null = null
  #looked: Looked | null = null
  #lost: Spot | null = null
  readonly #onLost: () => void

  /** `onLost`: called each time that the log lacks a known event. */
  constructor(onLost: () => void = () => undefined) {
    this.#onLost = onLost
  }

  get last(): Spot | null {
    return this.#last
  }

  /** The last event that this process has seen and the log has since lost; null: none. */
  get lost(): Spot | null {
    return this.#lost
  }

  note({ position, hash }: Spot): void {
    if (position > (this.#last?.position ?? -1)) this.#last = { position, hash }
  }

  look(looked: Looked): void {
    this.#looked = looked
  }

  /** The searched part that extends beyond a spot; null if there is none. */
  beyond({ position }: Spot): Looked | null {
    const looked = this.#looked
    return looked && looked.after <= position && position < looked.position ? looked : null
  }

  /** The log has lost the last known event: an operator put back an older state of the log. */
  lose(): void {
    if (this.#last !== null && this.#last.position > (this.#lost?.position ?? -1)) this.#lost = this.#last
    this.#last = null
    this.#looked = null
    this.#onLost()
  }

  /** The owner of the log deals with the lost event, or the log contains the event again. */
  settle(): void {
    this.#lost = null
  }
}
