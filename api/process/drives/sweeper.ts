import { unlessAborted } from '../../operations/concurrency/unless-aborted.ts'
import type { Services } from '../../operations/services.ts'
import { WakeSignal } from './wake-signal.ts'

const FAR_MS = 60_000
const FIRST_DELAY_MS = 1_000
const LONGEST_DELAY_MS = 5 * 60_000

interface Swept {
  readonly drivers: Pick<Services['drivers'], 'state' | 'start' | 'onWaiting'>
  readonly clock: Services['clock']
}

/** When an agent that is due again and again is driven next. */
interface Delay {
  readonly until: number
  readonly ms: number
  /** The report on it. */
  readonly said: string | null
}

/** The differences of a sweep that is not alone. */
export interface Sweeping {
  /** Only runs that were started for any driver. */
  readonly asked: boolean
  /** Only these agents; nothing is looked at where there are none. */
  mine?(): ReadonlySet<string>
  /** The longest wait between two looks, ms. */
  readonly farMs: number
  /** How long what another process drives is left alone, ms. */
  readonly elsewhereMs: number
  /** Cuts a wait short, and hears whether the look after it went well. */
  readonly wakeSignal: WakeSignal
  /** A factor for each wait, so that many who sweep do not do it at once. */
  jitter(): number
}

const alone = (): Sweeping => ({
  asked: false,
  farMs: FAR_MS,
  elsewhereMs: FAR_MS,
  wakeSignal: new WakeSignal(),
  jitter: () => 1,
})

/**
 * Wakes agents that are due (backoff, expiry, deadline, a driver that died), in a process that drives by itself. The
 * table is caught up to the head before each sweep, so that no row can be missing; a stale one costs a load. The next sweep
 * is when the next agent is due, also one that has begun to wait meanwhile. What is due
 * again right after its drive (another run holds its workspace, a disk is full) waits longer each time; `onNote` hears
 * once why.
 */
export async function sweep(
  s: Swept & { readonly read: Pick<Services['read'], 'caughtUp' | 'due' | 'nextDue'> },
  signal: AbortSignal,
  onFault: (error: unknown) => void,
  onNote: (text: string) => void,
  how: Sweeping = alone(),
): Promise<void> {
  let delays: ReadonlyMap<string, Delay> = new Map()
  /** Wakes what is due; gives how long nothing will be, ms. */
  const look = async (): Promise<number> => {
    const mine = how.mine?.().union(new Set(delays.keys()))
    if (mine?.size === 0) return how.farMs
    await unlessAborted(s.read.caughtUp(), signal)
    const now = s.clock.now()
    const all = runsOf(await unlessAborted(s.read.due(now, { asked: how.asked }), signal))
    const due = mine === undefined ? all : all.filter(({ runId }) => mine.has(runId))
    // A run that is not due any more has got on.
    delays = new Map(due.map((one) => [one.runId, wake(s, one, now, delays.get(one.runId), onNote, how)]))
    const next = await unlessAborted(s.read.nextDue(now, { asked: how.asked }), signal)
    const wakes = [...delays.values()].map(({ until }) => until).filter((until) => until > now)
    const waits = [...(next === null ? [] : [next]), ...wakes].map((until) => until - now)
    return Math.max(1, Math.min(how.farMs, ...waits))
  }
  // An agent that has begun to wait may be due sooner than what was looked for: the wait is computed anew.
  const off = s.drivers.onWaiting(() => void how.wakeSignal.notify().catch(() => undefined))
  signal.addEventListener('abort', off, { once: true })
  while (!signal.aborted) {
    let wait = how.farMs
    const answer = how.wakeSignal.take()
    try {
      wait = await look()
      answer(null)
    } catch (error) {
      if (!signal.aborted) onFault(error)
      answer(error)
    }
    await how.wakeSignal.orAfter(s.clock, wait * how.jitter(), signal)
  }
}

type Due = { readonly runId: string; readonly reason: string }

/** The runs of due agents, each once, in the order of their first agent: a run is driven as a whole. */
function runsOf(due: readonly Due[]): readonly Due[] {
  const runs = new Map<string, Due>()
  for (const one of due) if (!runs.has(one.runId)) runs.set(one.runId, one)
  return [...runs.values()]
}

/** Drives a due run unless it was just driven in vain. */
function wake(
  { drivers, clock }: Swept,
  { runId, reason }: Due,
  now: number,
  last: Delay | undefined,
  onNote: (text: string) => void,
  { elsewhereMs, jitter }: Sweeping,
): Delay {
  const { driving, end } = drivers.state(runId)
  const fault = !driving && end?.end === 'fault' ? end : null
  const elsewhere = fault?.code === 'RUN_DRIVEN'
  // The tools of a process stay the same: a process with the run's tools will drive it. The end of a run needs no tools.
  const foreign = fault?.code === 'TOOLS_MISSING' && reason !== 'cancel'
  const said = elsewhere ? null : (fault?.code ?? last?.said ?? null)
  if (fault !== null && said !== null && said !== last?.said)
    onNote(`${runId}: ${fault.message}${foreign ? '' : '; it is tried again'}`)
  if (foreign) return { until: Number.POSITIVE_INFINITY, ms: FIRST_DELAY_MS, said }
  // A run that was left to others for good waited for no event that could come: there is no delay to continue.
  const before = last?.until === Number.POSITIVE_INFINITY ? undefined : last
  if (driving) return before ?? { until: now + FIRST_DELAY_MS, ms: FIRST_DELAY_MS, said }
  if (before !== undefined && before.until > now) return { ...before, said }
  drivers.start(runId, false)
  // A run that another process drives is no failure: the sweeper checks again and again whether it still does.
  if (elsewhere) return { until: clock.now() + elsewhereMs * jitter(), ms: FIRST_DELAY_MS, said }
  const ms = before === undefined ? FIRST_DELAY_MS : Math.min(before.ms * 2, LONGEST_DELAY_MS)
  return { until: clock.now() + ms, ms, said }
}
