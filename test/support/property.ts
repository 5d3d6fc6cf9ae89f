import type { Parameters } from 'fast-check'

/** Settings of every property: `FC_SEED` repeats a run (fast-check prints the seed of a failure). */
export function property<T>(runs: number, more: Parameters<T> = {}): Parameters<T> {
  const seed = process.env.FC_SEED
  return { numRuns: runs, ...(seed !== undefined && { seed: Number(seed) }), ...more }
}
