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
  process.once('SIGTERM', terminate)
  const stop = () => {
    process.off('SIGINT', handler)
    process.off('SIGTERM', terminate)
  }
  return { count: () => count, stop }
}
