/** The time to end after `drainMs`, in ms. */
const PATIENCE_MS = 2000

/**
 * Ends this process if its work has not finished in time, for example because a tool ignores signals or a disk hangs.
 * Acknowledged data is safe, as after a kill. Returns a function that cancels the timer.
 */
export function hardExit(drainMs: number, code: number, say: (text: string) => void): () => void {
  const timer = setTimeout(() => {
    say('what is at work does not end; ending without it')
    process.exit(code)
  }, drainMs + PATIENCE_MS).unref()
  return () => clearTimeout(timer)
}
