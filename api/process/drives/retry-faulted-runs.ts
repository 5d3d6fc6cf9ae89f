import { sweep } from './sweeper.ts'
import { sharing, type Work } from './work.ts'

/**
 * Goes on with runs that this process was asked to drive and could not, until the signal aborts; what others were asked to
 * drive is left to workers. The tables are looked at only while there is such a run.
 */
export async function retryFaultedRuns(work: Work, signal: AbortSignal): Promise<void> {
  const { services, onNote } = work
  const { how, onSweepFault } = sharing(work)
  await sweep(services, signal, onSweepFault, onNote, { ...how, asked: false, mine: () => services.drivers.faulted() })
}
