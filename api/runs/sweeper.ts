import type { Services } from '../services.ts'

const FAR_MS = 60_000

/**
 * Wakes agents that are due (backoff, expiry, deadline, a driver that died), in a process that drives by itself. The
 * table is caught up to the head before each sweep, so that no row can be missing; a stale one costs a load.
 */
export async function sweep(
  s: {
    readonly read: Pick<Services['read'], 'caughtUp' | 'due' | 'nextDue'>
    readonly drivers: Pick<Services['drivers'], 'state' | 'start'>
    readonly clock: Services['clock']
  },
  signal: AbortSignal,
  onFault: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    let wait = FAR_MS
    try {
      await s.read.caughtUp()
      const now = s.clock.now()
      for (const due of await s.read.due(now)) {
        if (!s.drivers.state(due.agentId).driving) s.drivers.start(due.agentId)
      }
      const next = await s.read.nextDue(now)
      if (next !== null) wait = Math.min(FAR_MS, Math.max(1, next - now))
    } catch (error) {
      onFault(error)
    }
    await s.clock.sleep(wait, signal).catch(() => {})
  }
}
