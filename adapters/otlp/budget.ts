/**
 * The bounds of a request. `values`: attributes, events, entries of lists, and, in Protocol Buffers, fields. Most spans have
 * fewer than 100 values. A value may take two bytes in a request and a hundred times that in memory.
 */
const LIMITS = { spans: 10_000, values: 1_000_000 }

/** A request has more spans or values than a process should have in memory. */
export class OtlpTooLarge extends Error {
  override readonly name = 'OtlpTooLarge'
}

/** Counts the parts of one request while they are decoded. Each method throws {@link OtlpTooLarge} above the limit. */
export class OtlpBudget {
  readonly #limits: typeof LIMITS
  #spans = 0
  #values = 0

  constructor(limits = LIMITS) {
    this.#limits = limits
  }

  span(): void {
    this.#spans += 1
    const { spans } = this.#limits
    if (this.#spans > spans) throw new OtlpTooLarge(`a request may have at most ${spans} spans; send fewer`)
  }

  value(): void {
    this.#values += 1
    const { values } = this.#limits
    if (this.#values > values)
      throw new OtlpTooLarge(`a request may have at most ${values} attributes and other values; send fewer spans`)
  }
}
