/** The signals while a run is driven: the first Ctrl-C asks for a pause, the second ends this process. */
export interface Interrupts {
  readonly count: () => number
  /** From now on signals do what they do to any process, or what another one who listens makes of them. */
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
    // A terminal that is closed means the same as being told to end.
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
