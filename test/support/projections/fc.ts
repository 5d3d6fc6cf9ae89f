import fc from 'fast-check'
import { casesOf } from '../cases.ts'

/** Parameters of a property on {@link casesOf} `count`. `FC_SEED` repeats a run. */
export function runs(count: number): { numRuns: number; seed?: number; interruptAfterTimeLimit: number } {
  const { FC_SEED } = process.env
  return {
    // Stop shrinking a long story in time to report it.
    interruptAfterTimeLimit: 25_000,
    numRuns: casesOf(count),
    ...(FC_SEED ? { seed: Number(FC_SEED) } : {}),
  }
}

/** The choices of a story. Shorter tapes and smaller numbers give simpler stories. */
export const tape = fc.array(fc.nat(999), { maxLength: 600, size: 'max' })
