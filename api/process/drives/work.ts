import { withinOr } from '../../operations/concurrency/within-or.ts'
import { alike } from '../../operations/notices.ts'
import type { Services, WorkNotification } from '../../operations/services.ts'
import { sweep } from './sweeper.ts'
import { WakeSignal } from './wake-signal.ts'

/** Everything is looked at at least so often, ms: the workSubscription may be down. */
const SWEEP_MS = 5_000
/** A notification is answered after so long, ms, also where the run still waits for its turn here: the sweeps of all find it. */
const CLAIM_WITHIN_MS = 20_000

export interface Work {
  readonly services: Services
  readonly leaseMs: number
  readonly onFault: (error: unknown, where: string) => void
  readonly onNote: (text: string) => void
}

/**
 * Drives the runs that were started to be driven, beside other processes that do the same, until the signal aborts. What is
 * due is looked for again and again; the workSubscription makes it soon, and where it is down nothing is lost but time.
 */
export async function work(work: Work, signal: AbortSignal): Promise<void> {
  const { services, onNote } = work
  const { how, onSweepFault } = sharing(work)
  await Promise.all([
    sweep(services, signal, onSweepFault, onNote, how),
    listen(services, how.wakeSignal, signal, onNote),
  ])
}

/** How one of many who drive looks for what is due. */
export function sharing({ services, leaseMs, onFault }: Work) {
  const wakeSignal = new WakeSignal()
  const jitter = () => 0.75 + services.random.bytes(1)[0]! / 512
  const how = { asked: true, farMs: Math.min(SWEEP_MS, leaseMs), elsewhereMs: leaseMs / 2, wakeSignal, jitter }
  let said = ''
  // The same fault again and again is told once.
  const onSweepFault = (error: unknown) => {
    const text = error instanceof Error ? error.message : String(error)
    if (!alike(text, said)) onFault(error, 'looking for what is due')
    said = text
  }
  return { how, onSweepFault }
}

async function listen(
  { workSubscription, drivers, clock }: Services,
  wakeSignal: WakeSignal,
  signal: AbortSignal,
  onNote: (text: string) => void,
): Promise<void> {
  if (workSubscription === null) return
  let down = false
  const onTrouble = (error: unknown) => {
    const [why] = (error instanceof Error ? error.message : String(error)).split('\n')
    if (error === null && down) onNote('runs begin at once again: the subscription works')
    if (error !== null && !down)
      onNote(`runs begin some seconds later: the event store's subscription is broken (${why})`)
    down = error !== null
  }
  const answer = async ({ agentId, done }: WorkNotification) => {
    await wakeSignal.notify()
    await withinOr(clock, CLAIM_WITHIN_MS, drivers.claimed(agentId), undefined)
    if (!signal.aborted) done()
  }
  for await (const notification of workSubscription.notifications(signal, onTrouble)) {
    // An event of a driver concerns no other process.
    if (notification.byDriver) notification.done()
    // Where the look failed the notification comes again.
    else answer(notification).catch(() => undefined)
  }
}
