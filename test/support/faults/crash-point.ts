import type { CrashPoint } from '../../../domain/ports/runtime.ts'

/** Told to a fault test that asks how many points there are: one line on stderr at the end of the process. */
const PASSED = 'crash points passed: '

/**
 * For fault tests: `KEEPUP_CRASH_AT=<point>:<n>` ends this process with SIGKILL, as a power cut would, when it passes the
 * named point for the n-th time; `KEEPUP_CRASH_AT=*:<n>` counts all points; `KEEPUP_CRASH_AT=list` ends nothing and says
 * at the end which points were passed, in order, as JSON. Null where it is not set.
 */
export function crashPoint(env: NodeJS.ProcessEnv): ((name: CrashPoint) => Promise<void>) | null {
  const asked = env.KEEPUP_CRASH_AT ?? ''
  if (asked === '') return null
  if (asked === 'list') return listing()
  const match = /^([a-z_]+|\*):([1-9]\d*)$/.exec(asked)
  // A test that ends nothing because of a slip of the pen would prove nothing.
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
