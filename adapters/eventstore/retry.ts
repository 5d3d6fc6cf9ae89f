import { setTimeout as sleep } from 'node:timers/promises'
import { logUnavailable, permanent, Unsent } from './errors.ts'
import type { TimeLimits } from './options.ts'

export const LIMITS: TimeLimits = { callMs: 5_000, patienceMs: 20_000, silenceMs: 10_000 }

const FIRST_DELAY = 25
const LONGEST_DELAY = 1_000

/** Waits before a retry: 25 ms, doubled up to 1 s. Rejects with the signal's reason. */
export class Backoff {
  #next = FIRST_DELAY

  reset(): void {
    this.#next = FIRST_DELAY
  }

  async wait(signal: AbortSignal): Promise<void> {
    const ms = this.#next
    this.#next = Math.min(ms * 2, LONGEST_DELAY)
    await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/** The silence of a server before the first warning. In ms. */
const TOLD_AFTER = 1_500

export interface Patience {
  readonly limits: TimeLimits
  /** When to give up, in ms of `performance.now()`. Absent: after `limits.patienceMs`. */
  readonly until?: number
  readonly servers: string
  readonly signal: AbortSignal
  /** The request changes data. Without an answer its outcome is unknown. */
  readonly writes?: boolean
  /** Called once if the answer takes longer than 1.5 s. */
  readonly onWait?: ((text: string) => void) | undefined
}

/**
 * Repeats `work` until it succeeds, fails permanently, or the time limit ends. `work` must make the same request each
 * time; its argument is the remaining time in ms. `what` is for messages. Rejects with a LogError, `LOG_UNAVAILABLE`
 * after the time limit.
 */
export async function patiently<T>(
  patience: Patience,
  what: string,
  stream: string,
  work: (left: number) => Promise<T>,
): Promise<T> {
  const { limits, servers, onWait } = patience
  const most = Math.ceil((limits.patienceMs + limits.callMs) / 1000)
  const text = `the event store at ${servers} does not answer yet; it is waited for, ${most} s at most`
  const timer = onWait && setTimeout(() => onWait(text), TOLD_AFTER)
  try {
    return await trying(patience, what, stream, work)
  } finally {
    clearTimeout(timer)
  }
}

async function trying<T>(
  { limits, until, servers, signal, writes }: Patience,
  what: string,
  stream: string,
  work: (left: number) => Promise<T>,
): Promise<T> {
  const end = until ?? performance.now() + limits.patienceMs
  const backoff = new Backoff()
  let inDoubt = false
  for (;;) {
    signal.throwIfAborted()
    try {
      // A timer may fire a fraction of a millisecond early.
      return await work(Math.max(Math.ceil(end - performance.now()), 0) + 1)
    } catch (error) {
      signal.throwIfAborted()
      const final = permanent(error, stream)
      if (final) throw final
      inDoubt ||= writes === true && !(error instanceof Unsent)
      if (performance.now() >= end) throw logUnavailable(what, servers, error, inDoubt)
      await backoff.wait(signal)
    }
  }
}
