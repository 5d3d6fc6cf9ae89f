import { ProjectionError } from '../errors.ts'

interface Waiter {
  readonly position: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** The awaited value. Rejects with `ABORTED` when the signal aborts first. */
export function unlessWaitAborted<T>(awaited: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return awaited
  return new Promise((resolve, reject) => {
    const onAbort = () =>
      reject(new ProjectionError('ABORTED', 'the wait for the tables was aborted', { cause: signal.reason }))
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    awaited.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** Callers that wait for the tables to show a position. */
export class Waiters {
  #waiting = new Set<Waiter>()

  /** Resolves with {@link reached}; rejects with {@link fail}'s error, or `ABORTED`. */
  until(position: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { position, resolve, reject }
    this.#waiting.add(waiter)
    return unlessWaitAborted(promise, signal).finally(() => this.#waiting.delete(waiter))
  }

  reached(position: number): void {
    for (const waiter of this.#waiting) {
      if (waiter.position > position) continue
      this.#waiting.delete(waiter)
      waiter.resolve()
    }
  }

  fail(error: unknown): void {
    const all = this.#waiting
    this.#waiting = new Set()
    for (const waiter of all) waiter.reject(error)
  }
}
