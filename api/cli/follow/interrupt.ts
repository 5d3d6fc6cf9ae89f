/** Signals during a drive: the first Ctrl-C requests a pause, the second ends this process. */
export interface Interrupts {
  readonly count: () => number
  /** Restores the default signal handling, or that of other listeners. */
  stop(): void
  start(): void
}

export function onInterrupt(first: () => void, second: () => void, terminate: () => void): Interrupts {
  let count = 0
  const handler = () => {
    count++
    if (count === 1) first()
    else second()
  }
  const start = () => {
    process.on('SIGINT', handler)
    // A closed terminal acts like SIGTERM.
    process.once('SIGTERM', terminate)
    process.once('SIGHUP', terminate)
  }
  start()
  const stop = () => {
    process.off('SIGINT', handler)
    process.off('SIGTERM', terminate)
    process.off('SIGHUP', terminate)
  }
  return { count: () => count, stop, start }
}
