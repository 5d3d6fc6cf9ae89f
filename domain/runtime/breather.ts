/** How long others may be kept waiting, ms. */
const HOLD_MS = 20

/**
 * Gives way to everything else that waits for this thread, where work in parts has gone on for a while: call it after each
 * part. It measures itself with no clock of the run's: nothing that is decided or recorded depends on it.
 */
export function breather(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < HOLD_MS) return
    await new Promise<void>((resolve) => setImmediate(resolve))
    since = performance.now()
  }
}
