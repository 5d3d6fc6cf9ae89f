/** Standard error. */
interface Terminal {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** A line at the terminal that says that a command is at work. */
export interface Progress {
  /** Removes the line. Call it before anything else is written. */
  stop(): void
}

/** Shorter commands show no line, in ms. */
const QUIET_MS = 1_000
const STEP_MS = 200
const FRAMES = ['|', '/', '-', '\\']

/** Shows on a terminal how long a command has been at work, from its second second on. */
export function showProgress(stderr: Terminal, name: string): Progress {
  if (stderr.isTTY !== true) return { stop() {} }
  const begun = performance.now()
  let frame = 0
  const draw = () => {
    const seconds = Math.floor((performance.now() - begun) / 1000)
    stderr.write(`\r\u001b[K${FRAMES[frame++ % FRAMES.length]} ${name}: ${seconds} s`)
  }
  const every = setInterval(() => {
    if (performance.now() - begun >= QUIET_MS) draw()
  }, STEP_MS)
  // A line must not keep the process alive.
  every.unref()
  return {
    stop() {
      clearInterval(every)
      if (frame > 0) stderr.write('\r\u001b[K')
      frame = 0
    },
  }
}
