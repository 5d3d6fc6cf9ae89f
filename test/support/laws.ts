import fc from 'fast-check'

/**
 * Checks a law. `FC_SEED` (and `FC_PATH`, as printed by fast-check) replays a failure; `FC_RUNS` multiplies the runs.
 */
export async function law<T>(
  arbitrary: fc.Arbitrary<T>,
  runs: number,
  holds: (value: T) => Promise<void> | void,
): Promise<void> {
  const { FC_SEED, FC_PATH, FC_RUNS } = process.env
  await fc.assert(
    fc.asyncProperty(arbitrary, async (value) => {
      await holds(value)
    }),
    {
      numRuns: runs * Number(FC_RUNS ?? 1),
      ...(FC_SEED === undefined ? {} : { seed: Number(FC_SEED) }),
      ...(FC_PATH === undefined ? {} : { path: FC_PATH }),
    },
  )
}
