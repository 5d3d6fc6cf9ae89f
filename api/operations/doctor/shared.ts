import type { Right } from '../../../domain/access/rights.ts'
import type { Services } from '../services.ts'
import { FINDING_RIGHTS } from './examine.ts'
import type { Finding } from './finding.ts'

/** How long an examination answers later callers, in ms. */
const KEPT_MS = 3_000

interface Examination {
  readonly result: Promise<{ readonly findings: readonly Finding[] }>
  /** Infinity while it runs. */
  until: number
}

const examinations = new WeakMap<Services, Map<string, Examination>>()

/**
 * Runs an examination, or returns the running or latest one of callers who may see the same findings: an examination
 * starts programs and proves streams, so many callers must not multiply its cost.
 */
export function shared(
  s: Services,
  rights: ReadonlySet<Right> | null,
  machine: string,
  run: () => Examination['result'],
): Examination['result'] {
  const known = examinations.get(s) ?? new Map<string, Examination>()
  examinations.set(s, known)
  const key = [machine, ...FINDING_RIGHTS.filter((right) => rights === null || rights.has(right))].join(' ')
  const latest = known.get(key)
  if (latest !== undefined && performance.now() < latest.until) return latest.result
  const one: Examination = { result: run(), until: Number.POSITIVE_INFINITY }
  known.set(key, one)
  one.result.then(
    () => {
      one.until = performance.now() + KEPT_MS
    },
    () => known.delete(key),
  )
  return one.result
}
