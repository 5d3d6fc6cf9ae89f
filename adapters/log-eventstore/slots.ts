/**
 * The client breaks when more messages wait in its append stream than the stream's buffer holds and the stream then ends:
 * each that is still queued becomes an unhandled rejection. Sixteen fill the buffer.
 */
const MOST = 15

/**
 * Lets appends pass in call order, a bounded number at a time. Until one was answered on the connection as it is, they
 * pass one by one: the client's first two appends would overtake each other.
 */
export class Slots {
  readonly #waiting: (() => void)[] = []
  #taken = 0
  #proven = false

  /** Resolves when it is this caller's turn; {@link give} must follow. */
  take(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#pass()
    })
  }

  /** `answered`: the server answered on this connection. */
  give(answered: boolean): void {
    this.#taken--
    this.#proven = answered
    this.#pass()
  }

  #pass(): void {
    while (this.#taken < (this.#proven ? MOST : 1)) {
      const next = this.#waiting.shift()
      if (!next) return
      this.#taken++
      next()
    }
  }
}
