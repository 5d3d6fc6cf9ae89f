import type { CrashPoint } from '../../../domain/ports/runtime.ts'

/** Starts the line with the passed points, which `list` prints to stderr at the end of the process. */
const PASSED = 'crash points passed: '

/**
 * For fault tests: `KEEPUP_CRASH_AT=<point>:<n>` kills this process with SIGKILL, like a power cut, when it passes the
 * named point for the n-th time; `*:<n>` counts all points; `list` kills nothing and prints the passed points in order
 * at the end, as JSON. Null: the variable is not set.
 */
export function crashPoint(env: NodeJS.ProcessEnv): ((name: CrashPoint) => Promise<void>) | null {
  const asked = env.KEEPUP_CRASH_AT ?? ''
  if (asked === '') return null
  if (asked === 'list') return listing()
  const match = /^([a-z_]+|\*):([1-9]\d*)$/.exec(asked)
  // A typing error must not make a test pass by killing nothing.
  if (match === null) throw new Error(`KEEPUP_CRASH_AT: expected <point>:<n>, *:<n> or list, not "${asked}"`)
  const [, point, count] = match
  let left = Number(count)
  return async (name) => {
    if (point !== '*' && point !== name) return
    left--
    if (left !== 0) return
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => undefined)
  }
}

function listing(): (name: CrashPoint) => Promise<void> {
  const passed: CrashPoint[] = []
  process.once('exit', () => process.stderr.write(`${PASSED}${JSON.stringify(passed)}\n`))
  return async (name) => {
    passed.push(name)
  }
}
