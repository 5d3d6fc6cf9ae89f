import type { Clock } from '../../ports/index.ts'
import { alarm } from './time-limit.ts'

/** Lets a loop sleep until a poke or a due time. */
export class Alarm {
  /** True after a poke, until the loop sets it to false. */
  moved = true
  #wake: () => void = () => undefined

  poke(): void {
    this.moved = true
    this.#wake()
  }

  /** Resolves at once if `moved`, else at the next {@link poke} or at `due` (ms since the epoch; infinite: never). */
  async next(clock: Clock, due: number): Promise<void> {
    if (this.moved) return
    let callOff: () => void = () => undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      // Without a due time only a poke ends the sleep, so an abort must poke too.
      if (due === Number.POSITIVE_INFINITY) return
      callOff = alarm(clock, Math.max(0, Math.min(due - clock.now(), LONGEST_SLEEP_MS)), resolve)
    })
    callOff()
    this.#wake = () => undefined
  }
}

/** The longest single timer, ms: longer ones overflow, and the loop checks again anyway. */
const LONGEST_SLEEP_MS = 60 * 60 * 1000
