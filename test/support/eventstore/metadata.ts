import type { Stored } from './store.ts'

/** The largest revision in JSON. */
export const softDeleted = { $tb: Number('9223372036854775807') }

/** The limits in a stream's metadata. */
export class Metadata {
  readonly #values: { $tb?: number; $maxCount?: number; $maxAge?: number }

  constructor(data: Uint8Array | undefined) {
    this.#values = data ? JSON.parse(new TextDecoder().decode(data)) : {}
  }

  get softDeleted(): boolean {
    return this.#values.$tb === softDeleted.$tb
  }

  /** `count`: the number of events of the stream. `now`: ms. */
  shows({ revision, created }: Stored, count: number, now: number): boolean {
    const { $tb = 0, $maxCount = Number.POSITIVE_INFINITY, $maxAge = Number.POSITIVE_INFINITY } = this.#values
    return revision >= $tb && revision >= count - $maxCount && (now - created) / 1000 < $maxAge
  }
}
