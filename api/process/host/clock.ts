import type { Clock } from '../../../domain/ports/index.ts'
import { AlarmWheel, LONGEST_MS } from './alarm-wheel.ts'

/**
 * Time sources in ms. The wall clock can be set at any moment. The monotonic clock only increases, from an arbitrary
 * start.
 */
export interface TimeSources {
  wall(): number
  monotonic(): number
}

const SYSTEM: TimeSources = { wall: () => Date.now(), monotonic: () => performance.now() }

/**
 * Follows the wall clock when it advances, and the monotonic clock when the wall clock was set back. The time never
 * decreases or stops, so no wait is longer than requested.
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

  /**
   * Never returns an earlier time from now on. Pass the time of a log's last event, which a wrong clock may have
   * written.
   */
  notBefore(instant: number): void {
    this.#last = Math.max(this.now(), instant)
  }

  alarm(ms: number, ring: () => void): () => void {
    return this.#wheel.alarm(ms, ring)
  }

  // Not node:timers/promises, which creates an error with a stack trace for each cancelled wait.
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
