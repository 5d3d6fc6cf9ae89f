import fc from 'fast-check'
import { casesOf } from './cases.ts'

/**
 * Checks a law on {@link casesOf} `runs`. `FC_SEED` (and `FC_PATH`, as printed by fast-check) replays a failure.
 */
export async function law<T>(
  arbitrary: fc.Arbitrary<T>,
  runs: number,
  holds: (value: T) => Promise<void> | void,
): Promise<void> {
  const { FC_SEED, FC_PATH } = process.env
  await fc.assert(
    fc.asyncProperty(arbitrary, async (value) => {
      await holds(value)
    }),
    {
      numRuns: casesOf(runs),
      ...(FC_SEED === undefined ? {} : { seed: Number(FC_SEED) }),
      ...(FC_PATH === undefined ? {} : { path: FC_PATH }),
    },
  )
}
