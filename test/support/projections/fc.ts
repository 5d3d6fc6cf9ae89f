import fc from 'fast-check'

/** Parameters of a property: `FC_SEED` repeats a run, `FC_RUNS` sets how many cases. */
export function runs(count: number): { numRuns: number; seed?: number; interruptAfterTimeLimit: number } {
  const { FC_SEED, FC_RUNS } = process.env
  return {
    // Shrinking a long story ends in time to be reported.
    interruptAfterTimeLimit: 25_000,
    numRuns: FC_RUNS ? Number(FC_RUNS) : count,
    ...(FC_SEED ? { seed: Number(FC_SEED) } : {}),
  }
}

/** The choices that a story is made of; shorter ones and smaller numbers are simpler stories. */
export const tape = fc.array(fc.nat(999), { maxLength: 600, size: 'max' })
