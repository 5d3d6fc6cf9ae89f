import type { Clock } from '../../ports/index.ts'

/** Lets a loop sleep until something has moved, or a time has come. */
export class Alarm {
  /** Something has moved since this was last set to false. */
  moved = true
  #wake: () => void = () => undefined

  poke(): void {
    this.moved = true
    this.#wake()
  }

  /** Resolves at once where something has moved; else at the next {@link poke}, or at `due` (ms; infinite: not by time). */
  async next(clock: Clock, due: number): Promise<void> {
    if (this.moved) return
    const done = new AbortController()
    const poked = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    const sleep = () => {
      const ms = Math.max(0, Math.min(due - clock.now(), LONGEST_SLEEP_MS))
      return clock.sleep(ms, done.signal).catch(() => undefined)
    }
    // Where nothing is due, only a poke ends the sleep; an abort is one.
    await Promise.race([poked, due === Number.POSITIVE_INFINITY ? poked : sleep()])
    done.abort(POKED)
    this.#wake = () => undefined
  }
}

/** No timer is set beyond it: longer sleeps overflow, and a loop looks again anyway, ms. */
const LONGEST_SLEEP_MS = 60 * 60 * 1000

const POKED = new Error('there is something to do')
