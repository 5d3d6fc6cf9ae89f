/** Standard error. */
interface Terminal {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** The progress of a command. `total` null: unknown. `amount` formats a number; default: the number itself. */
export interface Share {
  readonly done: number
  readonly total: number | null
  readonly unit: string
  readonly amount?: (n: number) => string
}

/** A line at the terminal that says that a command is at work. */
export interface Progress {
  /** Sets the progress. Afterwards the line returns after each output, until {@link stop}. */
  at(share: Share): void
  /** Removes the line before output. The line returns only if the command has called {@link at}, because output may end within a line. */
  clear(): void
  /** Removes the line for good. Call it before a person is asked. */
  stop(): void
}

/** Shorter commands show no line, in ms. */
const QUIET_MS = 1_000
const STEP_MS = 200
const FRAMES = ['|', '/', '-', '\\']
const NONE: Progress = { at() {}, clear() {}, stop() {} }

/** Shows on a terminal how long a command has been at work, and its progress. Starts after a second. */
export function showProgress(stderr: Terminal, name: string): Progress {
  if (stderr.isTTY !== true) return NONE
  const begun = performance.now()
  let frame = 0
  let shown = false
  let share: Share | null = null
  const draw = () => {
    const seconds = Math.floor((performance.now() - begun) / 1000)
    const far = share === null ? '' : `${shareText(share)}, `
    stderr.write(`\r\u001b[K${FRAMES[frame++ % FRAMES.length]} ${name}: ${far}${seconds} s`)
    shown = true
  }
  const every = setInterval(() => {
    if (performance.now() - begun >= QUIET_MS) draw()
  }, STEP_MS)
  // A line must not keep the process alive.
  every.unref()
  const erase = () => {
    if (shown) stderr.write('\r\u001b[K')
    shown = false
  }
  const stop = () => {
    clearInterval(every)
    erase()
  }
  return {
    at(now) {
      share = now
    },
    clear: () => (share === null ? stop() : erase()),
    stop,
  }
}

/** `12 of 340 runs (3 %)`. More than the total, which was counted before, shows no percentage. */
export function shareText({ done, total, unit, amount = String }: Share): string {
  const of = (n: number) => `${amount(n)}${unit === '' ? '' : ` ${unit}`}`
  if (total === null || done > total) return of(done)
  const percent = total === 0 ? 100 : Math.floor((100 * done) / total)
  return `${amount(done)} of ${of(total)} (${percent} %)`
}
