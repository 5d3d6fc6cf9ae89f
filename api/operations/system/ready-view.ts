import type { z } from 'zod'
import { withinOr } from '../concurrency/within-or.ts'
import type { Services } from '../services.ts'
import type { Trouble } from './readiness.ts'
import type { Ready } from './schemas.ts'

type ReadyView = z.infer<typeof Ready>

/** The answer does not wait longer for the count of parked streams, ms. */
const PARKED_WITHIN_MS = 1_000

/** Whether log and tables answer, with the number of parked streams. */
export async function readyView(s: Services): Promise<ReadyView> {
  const { log, tables } = await s.ready()
  const asked = tables === null ? s.read.parked().then(({ length }) => length) : null
  const parked = asked && (await withinOr(s.clock, PARKED_WITHIN_MS, asked, null).catch(() => null))
  return { ready: log === null && tables === null, log: stateOf(log), tables: stateOf(tables), parked }
}

const stateOf = (trouble: Trouble | null): ReadyView['log'] =>
  trouble === null ? 'answers' : trouble.state === 'silent' ? 'silent' : 'unusable'
