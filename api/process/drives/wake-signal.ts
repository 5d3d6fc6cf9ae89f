import type { Clock } from '../../../domain/ports/index.ts'

/** Lets one task ask another task to poll, and wait until a poll that began after the request has ended. */
export class WakeSignal {
  #waiting: PromiseWithResolvers<void>[] = []
  #wake: () => void = () => undefined

  /** Resolves after the next poll. Rejects if that poll fails. */
  notify(): Promise<void> {
    const answered = Promise.withResolvers<void>()
    this.#waiting.push(answered)
    this.#wake()
    return answered.promise
  }

  /** Call this before a poll. After the poll, call the returned function with the error, or with null. */
  take(): (failed: unknown) => void {
    const answered = this.#waiting
    this.#waiting = []
    return (failed) => {
      for (const { resolve, reject } of answered) {
        if (failed === null) resolve()
        else reject(failed)
      }
    }
  }

  /** Resolves at a notification, after `ms`, or when the signal aborts. */
  async orAfter(clock: Pick<Clock, 'sleep'>, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#waiting.length > 0 || signal.aborted) return
    const over = new AbortController()
    const notified = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    const slept = clock.sleep(ms, AbortSignal.any([signal, over.signal])).catch(() => undefined)
    await Promise.race([notified, slept])
    this.#wake = () => undefined
    over.abort(NOTIFIED)
  }
}

const NOTIFIED = new Error('a wake-up was asked for')
