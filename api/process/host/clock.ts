import type { Clock } from '../../../domain/ports/index.ts'
import { AlarmWheel, LONGEST_MS } from './alarm-wheel.ts'

/** Where time comes from, ms: the wall's may be set at any moment, the other only goes on, but from nowhere in particular. */
export interface TimeSources {
  wall(): number
  monotonic(): number
}

const SYSTEM: TimeSources = { wall: () => Date.now(), monotonic: () => performance.now() }

/**
 * The wall's time where it goes on, the monotonic one's where it was set back: it never goes back and never stands still,
 * so that no wait is longer than it says.
 */
export class SystemClock implements Clock {
  readonly #sources: TimeSources
  #last: number
  #seen: number
  readonly #wheel: AlarmWheel

  constructor(sources: TimeSources = SYSTEM) {
    this.#sources = sources
    this.#last = sources.wall()
    this.#seen = sources.monotonic()
    this.#wheel = new AlarmWheel(() => this.now(), sources.monotonic)
  }

  now(): number {
    const seen = this.#sources.monotonic()
    this.#last = Math.max(this.#sources.wall(), this.#last + Math.max(0, seen - this.#seen))
    this.#seen = seen
    return Math.floor(this.#last)
  }

  /** From here on no earlier instant is told: a log ends with it, which a clock that went wrong may have written. */
  notBefore(instant: number): void {
    this.#last = Math.max(this.now(), instant)
  }

  alarm(ms: number, ring: () => void): () => void {
    return this.#wheel.alarm(ms, ring)
  }

  // By hand, because the promise of node:timers makes an error with a stack of its own for each wait that is called off.
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const until = this.now() + ms
      let timer: NodeJS.Timeout
      const calledOff = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const wait = (left: number) => {
        timer = setTimeout(
          () => {
            const rest = until - this.now()
            if (rest > 0) return wait(rest)
            signal?.removeEventListener('abort', calledOff)
            resolve()
          },
          Math.min(left, LONGEST_MS),
        )
      }
      signal?.addEventListener('abort', calledOff, { once: true })
      wait(ms)
    })
  }
}
