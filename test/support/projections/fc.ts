import fc from 'fast-check'

/** Parameters of a property: `FC_SEED` repeats a run, `FC_RUNS` sets the number of cases. */
export function runs(count: number): { numRuns: number; seed?: number; interruptAfterTimeLimit: number } {
  const { FC_SEED, FC_RUNS } = process.env
  return {
    // Stop shrinking a long story in time to report it.
    interruptAfterTimeLimit: 25_000,
    numRuns: FC_RUNS ? Number(FC_RUNS) : count,
    ...(FC_SEED ? { seed: Number(FC_SEED) } : {}),
  }
}

/** The choices of a story. Shorter tapes and smaller numbers give simpler stories. */
export const tape = fc.array(fc.nat(999), { maxLength: 600, size: 'max' })
