/** What Ctrl-C means while a run is driven: the first asks for a pause, the second ends this process. */
export interface Interrupts {
  readonly count: () => number
  stop(): void
}

export function onInterrupt(first: () => void, second: () => void): Interrupts {
  let count = 0
  const handler = () => {
    count++
    if (count === 1) first()
    else second()
  }
  process.on('SIGINT', handler)
  return { count: () => count, stop: () => void process.off('SIGINT', handler) }
}
