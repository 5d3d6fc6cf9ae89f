import { Unsent } from './errors.ts'

/**
 * The most appends at a time. Each append stays in memory until its answer. More appends than one flush of a server
 * takes would not be faster.
 */
export const AT_ONCE = 128

/** Admits appends in call order, a bounded number at a time. */
export class Slots {
  /** Each function admits its caller. False: the caller has given up. */
  readonly #waiting: (() => boolean)[] = []
  #taken = 0

  /** Resolves when this caller is admitted. Call {@link give} afterwards. Rejects with `Unsent` after `ms`. */
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
