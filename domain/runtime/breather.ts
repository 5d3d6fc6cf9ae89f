import type { Clock } from '../ports.ts'

/** How long others may be kept waiting, ms. */
const HOLD_MS = 20

export type Breathe = () => Promise<void>

/**
 * Gives way to everything else that waits for this thread, where work in parts has gone on for a while: call it after each
 * part. It measures itself with no clock of the run's: nothing that is decided or recorded depends on it.
 */
export function breather(clock: Pick<Clock, 'giveWay'> = {}): Breathe {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < HOLD_MS) return
    await (clock.giveWay?.() ?? new Promise<void>((resolve) => setImmediate(resolve)))
    since = performance.now()
  }
}

/** The end of work in steps, with others served between them. */
export async function inSteps<T>(work: Generator<undefined, T>, breathe: Breathe): Promise<T> {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    await breathe()
  }
}
