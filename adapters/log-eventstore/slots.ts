import { Overdue } from './errors.ts'

/** Appends at a time. Each is held in memory until it is answered; more than one flush of a server takes gain nothing. */
export const AT_ONCE = 128

/**
 * Lets appends pass in call order, a bounded number at a time. Until one was answered on the connection as it is, they
 * pass one by one: the client's first two appends would overtake each other.
 */
export class Slots {
  /** Each says whether it still waits. */
  readonly #waiting: (() => boolean)[] = []
  #taken = 0
  #proven = false

  /** Resolves when it is this caller's turn; {@link give} must follow. Rejects with `Overdue` after `ms`. */
  take(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let left = false
      const timer = setTimeout(() => {
        left = true
        reject(new Overdue('the appends before this one', ms))
      }, ms)
      this.#waiting.push(() => {
        if (left) return false
        clearTimeout(timer)
        resolve()
        return true
      })
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
    while (this.#taken < (this.#proven ? AT_ONCE : 1)) {
      const next = this.#waiting.shift()
      if (!next) return
      if (next()) this.#taken++
    }
  }
}
