/** What signals mean while a run is driven: the first Ctrl-C asks for a pause, the second ends this process. */
export interface Interrupts {
  readonly count: () => number
  stop(): void
}

export function onInterrupt(first: () => void, second: () => void, terminate: () => void): Interrupts {
  let count = 0
  const handler = () => {
    count++
    if (count === 1) first()
    else second()
  }
  process.on('SIGINT', handler)
  // A terminal that is closed means the same as being told to end.
  process.once('SIGTERM', terminate)
  process.once('SIGHUP', terminate)
  const stop = () => {
    process.off('SIGINT', handler)
    process.off('SIGTERM', terminate)
    process.off('SIGHUP', terminate)
  }
  return { count: () => count, stop }
}
