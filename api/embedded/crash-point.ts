import type { CrashPoint } from '../../domain/runtime/ports.ts'

/**
 * For fault tests: `KEEPUP_CRASH_AT=<point>:<n>` ends this process with SIGKILL, as a power cut would, when it passes the
 * named point for the n-th time; `KEEPUP_CRASH_AT=*:<n>` counts all points. Null where it is not set.
 */
export function crashPoint(env: NodeJS.ProcessEnv): ((name: CrashPoint) => Promise<void>) | null {
  const match = /^([a-z_]+|\*):(\d+)$/.exec(env.KEEPUP_CRASH_AT ?? '')
  if (match === null) return null
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
