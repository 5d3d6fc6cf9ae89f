import type { Right } from '../../../domain/access/rights.ts'
import type { Services } from '../services.ts'
import { FINDING_RIGHTS } from './examine.ts'
import type { Finding } from './finding.ts'

type Examination = Promise<{ readonly findings: readonly Finding[] }>

/** The running examinations of a process, by what their callers may see. */
const examinations = new WeakMap<Services, Map<string, Examination>>()

/**
 * Runs an examination, or joins the running one of callers who may see the same findings: an examination starts programs
 * and proves streams, so callers at the same time must not multiply its cost.
 */
export function shared(
  s: Services,
  rights: ReadonlySet<Right> | null,
  machine: string,
  run: () => Examination,
): Examination {
  const known = examinations.get(s) ?? new Map<string, Examination>()
  examinations.set(s, known)
  const key = [machine, ...FINDING_RIGHTS.filter((right) => rights === null || rights.has(right))].join(' ')
  const running = known.get(key)
  if (running !== undefined) return running
  const one = run().finally(() => known.delete(key))
  known.set(key, one)
  return one
}
