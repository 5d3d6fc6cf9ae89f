import type { Clock } from '../../ports/index.ts'

/** How long others may be kept waiting, ms. */
const HOLD_MS = 20

export type YieldToEventLoop = () => Promise<void>

/**
 * Gives way to everything else that waits for this thread, where work in parts has gone on for a while: call it after each
 * part. It measures itself with no clock of the run's: nothing that is decided or recorded depends on it.
 */
export function yielder(clock: Pick<Clock, 'giveWay'> = {}): YieldToEventLoop {
  let since = performance.now()
  const nextTurn = (): Promise<void> =>
    new Promise((resolve) =>
      setImmediate(() => {
        since = performance.now()
        resolve()
      }),
    )
  return () => {
    if (performance.now() - since < HOLD_MS) return AT_ONCE
    since = performance.now()
    return clock.giveWay?.() ?? nextTurn()
  }
}

// Whether the time was up must not change the order of what waits, where the clock is a virtual one: it answers at once too.
const AT_ONCE = Promise.resolve()

/** The end of work in steps, with others served between them. */
export async function inSteps<T>(work: Generator<undefined, T>, yieldToEventLoop: YieldToEventLoop): Promise<T> {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    await yieldToEventLoop()
  }
}
