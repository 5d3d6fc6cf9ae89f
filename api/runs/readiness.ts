import type { Clock, EventLog } from '../../domain/ports.ts'
import { told } from '../host/told.ts'
import type { ReadModel } from '../read-model.ts'

/** Why a part does not answer; null: it does. */
export interface Readiness {
  readonly log: string | null
  readonly tables: string | null
}

interface Asked {
  readonly log: Pick<EventLog, 'headCursor'>
  readonly read: Pick<ReadModel, 'answers'>
  readonly clock: Pick<Clock, 'sleep'>
}

/** An answer that takes longer is none, ms. */
const WITHIN_MS = 2_000

/** Asks log and tables, each at most once at a time, however often and by how many that is asked. */
export function readiness({ log, read, clock }: Asked): () => Promise<Readiness> {
  const asks = [() => log.headCursor(), () => read.answers()].map((ask) => answering(ask, clock))
  return async () => {
    const [first, second] = await Promise.all(asks.map((ask) => ask()))
    return { log: first!, tables: second! }
  }
}

function answering(ask: () => Promise<unknown>, clock: Asked['clock']): () => Promise<string | null> {
  let asking: Promise<string | null> | null = null
  return async () => {
    asking ??= ask()
      .then(() => null, firstLine)
      .finally(() => {
        asking = null
      })
    const over = new AbortController()
    const late = clock.sleep(WITHIN_MS, over.signal).then(
      () => `no answer within ${WITHIN_MS / 1000} s`,
      () => null,
    )
    const answer = await Promise.race([asking, late])
    over.abort(new Error('answered'))
    return answer
  }
}

const firstLine = (error: unknown): string => told(error).split('\n')[0]!
