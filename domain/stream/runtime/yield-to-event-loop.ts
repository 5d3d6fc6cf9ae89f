import type { Clock } from '../../ports/index.ts'

/** The longest time that other work on this thread waits, ms. */
const HOLD_MS = 20

export type YieldToEventLoop = () => Promise<void>

/**
 * Returns a function to call after each part of long work. When the work has run for {@link HOLD_MS}, the function lets
 * other work on this thread run. It measures real time, not the run's clock: no decision and no record depends on it.
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

// A virtual clock also answers at once, so that real time does not change the order of waiting work.
const AT_ONCE = Promise.resolve()

/** Runs a generator to its end and serves other work between its steps. */
export async function inSteps<T>(work: Generator<undefined, T>, yieldToEventLoop: YieldToEventLoop): Promise<T> {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    await yieldToEventLoop()
  }
}
