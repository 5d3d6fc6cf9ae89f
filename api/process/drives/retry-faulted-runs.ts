import { sweep } from './sweeper.ts'
import { sharing, type Work } from './work.ts'

/**
 * Retries runs that this process was asked to drive and could not, until the signal aborts. Leaves all other runs to
 * workers. Reads the tables only while there is such a run.
 */
export async function retryFaultedRuns(work: Work, signal: AbortSignal): Promise<void> {
  const { services, onNote } = work
  const { how, onSweepFault } = sharing(work)
  await sweep(services, signal, onSweepFault, onNote, { ...how, asked: false, mine: () => services.drivers.faulted() })
}
