import type { Services } from '../services.ts'

const FAR_MS = 60_000
const FIRST_DELAY_MS = 1_000
const LONGEST_DELAY_MS = 5 * 60_000

interface Swept {
  readonly drivers: Pick<Services['drivers'], 'state' | 'start'>
  readonly clock: Services['clock']
}

/** When an agent that is due again and again is driven next. */
interface Delay {
  readonly until: number
  readonly ms: number
  /** What was said of it. */
  readonly said: string | null
}

/**
 * Wakes agents that are due (backoff, expiry, deadline, a driver that died), in a process that drives by itself. The
 * table is caught up to the head before each sweep, so that no row can be missing; a stale one costs a load. What is due
 * again right after its drive (another run holds its workspace, a disk is full) waits longer each time; `onNote` hears
 * once why.
 */
export async function sweep(
  s: Swept & { readonly read: Pick<Services['read'], 'caughtUp' | 'due' | 'nextDue'> },
  signal: AbortSignal,
  onFault: (error: unknown) => void,
  onNote: (text: string) => void,
): Promise<void> {
  let delays: ReadonlyMap<string, Delay> = new Map()
  while (!signal.aborted) {
    let wait = FAR_MS
    try {
      await s.read.caughtUp()
      const now = s.clock.now()
      const due = await s.read.due(now)
      // Whoever is not due any more has got on.
      delays = new Map(due.map(({ agentId }) => [agentId, wake(s, agentId, now, delays.get(agentId), onNote)]))
      const next = await s.read.nextDue(now)
      const wakes = [...delays.values()].map(({ until }) => until).filter((until) => until > now)
      wait = Math.max(1, Math.min(FAR_MS, ...(next === null ? [] : [next - now]), ...wakes.map((until) => until - now)))
    } catch (error) {
      onFault(error)
    }
    await s.clock.sleep(wait, signal).catch(() => {})
  }
}

/** Drives a due agent unless it was just driven in vain. */
function wake(
  { drivers, clock }: Swept,
  agentId: string,
  now: number,
  before: Delay | undefined,
  onNote: (text: string) => void,
): Delay {
  const { driving, end } = drivers.state(agentId)
  const fault = !driving && end?.end === 'fault' ? end : null
  const said = fault?.code ?? before?.said ?? null
  if (fault !== null && fault.code !== before?.said) onNote(`${agentId}: ${fault.message}; it is tried again`)
  if (driving) return before ?? { until: now + FIRST_DELAY_MS, ms: FIRST_DELAY_MS, said }
  if (before !== undefined && before.until > now) return { ...before, said }
  drivers.start(agentId)
  const ms = before === undefined ? FIRST_DELAY_MS : Math.min(before.ms * 2, LONGEST_DELAY_MS)
  return { until: clock.now() + ms, ms, said }
}
