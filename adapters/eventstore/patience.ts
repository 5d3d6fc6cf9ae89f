import { setTimeout as sleep } from 'node:timers/promises'
import { permanent, Unsent, unavailable } from './errors.ts'
import type { Limits } from './options.ts'

export const LIMITS: Limits = { callMs: 5_000, patienceMs: 20_000, silenceMs: 10_000 }

const FIRST_DELAY = 25
const LONGEST_DELAY = 1_000

/** Waits before a further try: 25 ms, doubling up to 1 s. Rejects with the signal's reason. */
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
  readonly limits: Limits
  /** When the caller's time ends, of `performance.now()`. Absent: after `limits.patienceMs`. */
  readonly until?: number
  readonly servers: string
  readonly signal: AbortSignal
  /** The request changes something, so its outcome is unknown without an answer. */
  readonly writes?: boolean
  /** Told once, where the answer is not there soon. */
  readonly onWait?: ((text: string) => void) | undefined
}

/**
 * Does `work` until it succeeds or fails for good, for as long as the caller is patient. What is tried again must be the
 * very same each time; it is told how many ms are left. `what` is for messages. Rejects with a LogError,
 * `LOG_UNAVAILABLE` at the end of the patience.
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
      // A timer may end a part of a millisecond early.
      return await work(Math.max(Math.ceil(end - performance.now()), 0) + 1)
    } catch (error) {
      signal.throwIfAborted()
      const final = permanent(error, stream)
      if (final) throw final
      inDoubt ||= writes === true && !(error instanceof Unsent)
      if (performance.now() >= end) throw unavailable(what, servers, error, inDoubt)
      await backoff.wait(signal)
    }
  }
}
