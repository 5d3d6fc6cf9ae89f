import type { z } from 'zod'
import { withinOr } from '../concurrency/within-or.ts'
import { isSigned } from '../proof/status.ts'
import type { Services } from '../services.ts'
import type { Trouble } from './readiness.ts'
import type { Ready } from './schemas.ts'

type ReadyView = z.infer<typeof Ready>

/** The answer does not wait longer for the count of parked streams and the last head, ms. */
const MORE_WITHIN_MS = 1_000

/** Whether log and tables answer, with the number of parked streams, and whether the log is signed. */
export async function readyView(s: Services): Promise<ReadyView> {
  const { log, tables } = await s.ready()
  const within = <T>(answer: Promise<T>) => withinOr(s.clock, MORE_WITHIN_MS, answer, null).catch(() => null)
  const [parked, signed] = await Promise.all([
    tables === null ? within(s.read.parked().then(({ length }) => length)) : null,
    log === null ? within(isSigned(s)) : null,
  ])
  return { ready: log === null && tables === null, log: stateOf(log), tables: stateOf(tables), parked, signed }
}

const stateOf = (trouble: Trouble | null): ReadyView['log'] => trouble?.state ?? 'answers'
