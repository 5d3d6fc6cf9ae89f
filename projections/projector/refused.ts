import { ProjectionError } from '../errors.ts'
import { cut } from '../text.ts'
import type { Poison } from './decode.ts'

// Where the database refuses what rows hold, the agent whose rows they are is parked at the event that they come from, and
// nobody else waits.

/** An event whose rows were refused. */
export interface Refused {
  readonly revision: number
  readonly poison: Poison
}

function refusal(error: unknown): Poison {
  if (error instanceof ProjectionError && error.code === 'ROWS_REFUSED')
    return { code: error.code, message: `${cut(error.message, 500)}; release the agent where the database does` }
  throw error
}

/**
 * Does `work` on all items, or where that is refused on one half and then the other, down to the one that it is due to, which
 * `work` is given alone with the reason. False as soon as `work` says so. Rejects where also that is refused.
 */
export async function byHalves<T>(
  items: readonly T[],
  work: (items: readonly T[], refused: Poison | null) => Promise<boolean>,
): Promise<boolean> {
  let refused: Poison
  try {
    return await work(items, null)
  } catch (error) {
    refused = refusal(error)
  }
  if (items.length <= 1) return work(items, refused)
  const half = Math.ceil(items.length / 2)
  return (await byHalves(items.slice(0, half), work)) && byHalves(items.slice(half), work)
}

/** Does `work` on events up to a revision, or where that is refused up to the first that it is due to. */
export async function parkedWhere(upTo: number, work: (refused?: Refused) => Promise<void>): Promise<void> {
  let poison: Poison
  try {
    return await work()
  } catch (error) {
    poison = refusal(error)
  }
  // What comes before `known` is taken; what comes before `beyond` is not.
  let [known, beyond] = [0, upTo + 1]
  while (beyond - known > 1) {
    const revision = Math.floor((known + beyond) / 2)
    try {
      await work({ revision, poison })
      known = revision
    } catch (error) {
      poison = refusal(error)
      beyond = revision
    }
  }
  await work({ revision: known, poison })
}
