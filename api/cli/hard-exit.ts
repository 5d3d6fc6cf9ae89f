/** How much longer than its time to drain a process may take to end, in ms. */
const PATIENCE_MS = 2000

/**
 * Ends this process when what it waits for has not come to rest in time: a tool that ignores signals, a disk that hangs.
 * Nothing acknowledged is lost by it, as by a kill. Gives what calls it off.
 */
export function hardExit(drainMs: number, code: number, say: (text: string) => void): () => void {
  const timer = setTimeout(() => {
    say('what is at work does not end; ending without it')
    process.exit(code)
  }, drainMs + PATIENCE_MS).unref()
  return () => clearTimeout(timer)
}
