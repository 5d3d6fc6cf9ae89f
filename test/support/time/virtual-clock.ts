import type { Clock } from '../../../domain/ports/index.ts'

/** A clock that advances to the next sleeper only when no other work can run. Nothing really waits. */
export class VirtualClock implements Clock {
  time: number
  private sleepers: { at: number; wake: () => void }[] = []
  private turning = false
  private stopped = 0

  constructor(time = Date.UTC(2026, 0, 18)) {
    this.time = time
  }

  now(): number {
    return this.time
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const sleeper = {
        at: this.time + ms,
        wake: () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      const onAbort = () => {
        this.sleepers.splice(this.sleepers.indexOf(sleeper), 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.sleepers.push(sleeper)
      this.turn()
    })
  }

  alarm(ms: number, ring: () => void): () => void {
    const sleeper = { at: this.time + ms, wake: ring }
    this.sleepers.push(sleeper)
    this.turn()
    return () => {
      const index = this.sleepers.indexOf(sleeper)
      if (index >= 0) this.sleepers.splice(index, 1)
    }
  }

  /** Yielding takes no time. */
  async giveWay(): Promise<void> {}

  /** Stops the time during outside work. */
  async standing<T>(work: () => Promise<T>): Promise<T> {
    this.stopped++
    try {
      return await work()
    } finally {
      this.stopped--
      this.turn()
    }
  }

  /** Wakes the next sleeper after all other work has run. */
  private turn(): void {
    if (this.turning) return
    this.turning = true
    setImmediate(() => {
      this.turning = false
      if (this.sleepers.length === 0 || this.stopped > 0) return
      const next = this.sleepers.reduce((a, b) => (b.at < a.at ? b : a))
      this.sleepers.splice(this.sleepers.indexOf(next), 1)
      this.time = Math.max(this.time, next.at)
      next.wake()
      if (this.sleepers.length > 0) this.turn()
    })
  }
}
