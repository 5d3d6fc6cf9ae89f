import type { Call } from '../../calls/call.ts'
import { collide, isBarrier, type Touching, touching } from '../../calls/scheduling.ts'
import type { ToolSpec } from '../../calls/tools/tool-spec.ts'

interface Entry {
  readonly touched: Touching
  readonly barrier: boolean
  readonly ended: Promise<void>
}

/**
 * The locks of a workspace that several agents of a run share (CONTRACTS 3). Conflicting tool calls run one after the
 * other, in order of arrival. The calls of one agent are ordered before they start.
 */
export class WorkspaceOrder {
  readonly #entries = new Set<Entry>()

  /**
   * Waits for earlier conflicting calls or for the signal, then runs `work`. Rejects with the signal's reason if it has
   * aborted.
   */
  run<T>(
    call: Call,
    specs: (name: string) => ToolSpec | undefined,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    return this.#after({ touched: touching(call, specs), barrier: isBarrier(call, specs) }, signal, work)
  }

  /** Runs `work` exclusively, for work that may touch any file. */
  alone<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return this.#after({ touched: NOTHING, barrier: true }, signal, work)
  }

  async #after<T>(about: Omit<Entry, 'ended'>, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const ended = Promise.withResolvers<void>()
    const entry = { ...about, ended: ended.promise }
    const before = [...this.#entries].filter((other) => conflict(other, entry)).map((other) => other.ended)
    this.#entries.add(entry)
    try {
      if (before.length > 0) await Promise.race([Promise.all(before), aborted(signal)])
      signal.throwIfAborted()
      return await work()
    } finally {
      this.#entries.delete(entry)
      ended.resolve()
    }
  }
}

/** For work with unknown files. */
const NOTHING: Touching = { effect: 'irreversible', reads: [], writes: [] }

const conflict = (a: Entry, b: Entry): boolean => a.barrier || b.barrier || collide(a.touched, b.touched)

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
