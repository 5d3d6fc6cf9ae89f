import { withinOr } from '../../operations/concurrency/within-or.ts'
import { alike } from '../../operations/notices.ts'
import type { Services, WorkNotification } from '../../operations/services.ts'
import { sweep } from './sweeper.ts'
import { WakeSignal } from './wake-signal.ts'

/** The longest time between two sweeps, in ms. The subscription may be down. */
const SWEEP_MS = 5_000
/**
 * The time limit for acknowledging a notification, in ms. A run that still waits in this process's queue is
 * acknowledged too, because every process's sweep finds it.
 */
const CLAIM_WITHIN_MS = 20_000

export interface Work {
  readonly services: Services
  readonly leaseMs: number
  readonly onFault: (error: unknown, where: string) => void
  readonly onNote: (text: string) => void
}

/**
 * Drives the runs that any driver may drive, together with other processes, until the signal aborts. Sweeps find due
 * runs periodically. The subscription only speeds this up, so its failure costs time but loses no run.
 */
export async function work(work: Work, signal: AbortSignal): Promise<void> {
  const { services, onNote } = work
  const { how, onSweepFault } = sharing(work)
  await Promise.all([
    sweep(services, signal, onSweepFault, onNote, how),
    listen(services, how.wakeSignal, signal, onNote),
  ])
}

/** The sweep options of one of several driving processes. */
export function sharing({ services, leaseMs, onFault }: Work) {
  const wakeSignal = new WakeSignal()
  const jitter = () => 0.75 + services.random.bytes(1)[0]! / 512
  const how = { asked: true, farMs: Math.min(SWEEP_MS, leaseMs), elsewhereMs: leaseMs / 2, wakeSignal, jitter }
  let said = ''
  // Report a repeated fault only once.
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
    // An event of a driver does not concern other processes.
    if (notification.byDriver) notification.done()
    // After a failed sweep the notification arrives again.
    else answer(notification).catch(() => undefined)
  }
}
