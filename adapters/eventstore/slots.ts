import { Unsent } from './errors.ts'

/** Appends at a time. Each is held in memory until it is answered; more than one flush of a server takes gain nothing. */
export const AT_ONCE = 128

/** Lets appends pass in call order, a bounded number at a time. */
export class Slots {
  /** Each says whether it still waits. */
  readonly #waiting: (() => boolean)[] = []
  #taken = 0

  /** Ends when it is this caller's turn; {@link give} must follow. Rejects with `Unsent` after `ms`. */
  async take(ms: number): Promise<void> {
    if (this.#taken >= AT_ONCE) return this.#turn(ms)
    this.#taken++
  }

  #turn(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let left = false
      const timer = setTimeout(() => {
        left = true
        reject(new Unsent('the appends before this one', ms))
      }, ms)
      this.#waiting.push(() => {
        if (left) return false
        clearTimeout(timer)
        resolve()
        return true
      })
    })
  }

  give(): void {
    this.#taken--
    while (this.#taken < AT_ONCE) {
      const next = this.#waiting.shift()
      if (!next) return
      if (next()) this.#taken++
    }
  }
}
