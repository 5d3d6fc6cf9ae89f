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

/** The next time to drive an agent that is repeatedly due. */
interface Delay {
  readonly until: number
  readonly ms: number
  /** The last reported fault. */
  readonly said: string | null
}

/** Options of a sweep that shares its work with other processes. */
export interface Sweeping {
  /** Only runs that any driver may drive. */
  readonly asked: boolean
  /** Restricts the sweep to these agents. If there are none, the sweep reads nothing. */
  mine?(): ReadonlySet<string>
  /** The longest wait between two sweeps, in ms. */
  readonly farMs: number
  /** The time to leave a run alone that another process drives, in ms. */
  readonly elsewhereMs: number
  /** Cuts a wait short, and reports the result of the sweep after it. */
  readonly wakeSignal: WakeSignal
  /** A random factor for each wait, so that several processes do not sweep at the same time. */
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
 * Drives agents that are due (backoff, expiry, deadline, a dead driver). Each sweep first catches the table up to the
 * head of the log, so no row can be missing. A stale row costs one load. The next sweep comes when the next agent is
 * due, including agents that have started to wait since. An agent that is due again directly after its drive (another
 * run holds its workspace, or the disk is full) waits longer each time. `onNote` receives the reason once.
 */
export async function sweep(
  s: Swept & { readonly read: Pick<Services['read'], 'caughtUp' | 'due' | 'nextDue'> },
  signal: AbortSignal,
  onFault: (error: unknown) => void,
  onNote: (text: string) => void,
  how: Sweeping = alone(),
): Promise<void> {
  let delays: ReadonlyMap<string, Delay> = new Map()
  /** Drives the due agents. Returns the time until the next one is due, in ms. */
  const look = async (): Promise<number> => {
    const mine = how.mine?.().union(new Set(delays.keys()))
    if (mine?.size === 0) return how.farMs
    await unlessAborted(s.read.caughtUp(), signal)
    const now = s.clock.now()
    const all = runsOf(await unlessAborted(s.read.due(now, { asked: how.asked }), signal))
    const due = mine === undefined ? all : all.filter(({ runId }) => mine.has(runId))
    // A run that is no longer due has made progress, so forget its delay.
    delays = new Map(due.map((one) => [one.runId, wake(s, one, now, delays.get(one.runId), onNote, how)]))
    const next = await unlessAborted(s.read.nextDue(now, { asked: how.asked }), signal)
    const wakes = [...delays.values()].map(({ until }) => until).filter((until) => until > now)
    const waits = [...(next === null ? [] : [next]), ...wakes].map((until) => until - now)
    return Math.max(1, Math.min(how.farMs, ...waits))
  }
  // An agent that has just started to wait may be due before the next sweep. Compute the wait again.
  const off = s.drivers.onWaiting(() => void how.wakeSignal.notify().catch(() => undefined))
  signal.addEventListener('abort', off, { once: true })
  let shortest = 1
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
    const before = s.clock.now()
    await how.wakeSignal.orAfter(s.clock, Math.max(wait * how.jitter(), shortest), signal)
    // After the system clock is set back, `now` returns the same time until the system clock has passed it.
    shortest = s.clock.now() > before ? 1 : Math.min(shortest * 2, FIRST_DELAY_MS)
  }
}

type Due = { readonly runId: string; readonly reason: string }

/** The runs of due agents without duplicates, in the order of their first agent. A run is driven as a whole. */
function runsOf(due: readonly Due[]): readonly Due[] {
  const runs = new Map<string, Due>()
  for (const one of due) if (!runs.has(one.runId)) runs.set(one.runId, one)
  return [...runs.values()]
}

/** Drives a due run, unless its delay after a failed drive has not passed. */
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
  // The tools and providers of this process do not change: leave the run to a process that has its own. Ending a run needs none.
  const foreign = (fault?.code === 'TOOLS_MISSING' || fault?.code === 'PROVIDER_MISSING') && reason !== 'cancel'
  const said = elsewhere ? null : (fault?.code ?? last?.said ?? null)
  if (fault !== null && said !== null && said !== last?.said)
    onNote(`${runId}: ${fault.message}${foreign ? '' : '; it is tried again'}`)
  if (foreign) return { until: Number.POSITIVE_INFINITY, ms: FIRST_DELAY_MS, said }
  // A run left to other processes has no delay to continue.
  const before = last?.until === Number.POSITIVE_INFINITY ? undefined : last
  if (driving) return before ?? { until: now + FIRST_DELAY_MS, ms: FIRST_DELAY_MS, said }
  if (before !== undefined && before.until > now) return { ...before, said }
  drivers.start(runId, false)
  // A run that another process drives is not a failure. Check later whether that process still drives it.
  if (elsewhere) return { until: clock.now() + elsewhereMs * jitter(), ms: FIRST_DELAY_MS, said }
  const ms = before === undefined ? FIRST_DELAY_MS : Math.min(before.ms * 2, LONGEST_DELAY_MS)
  return { until: clock.now() + ms, ms, said }
}
