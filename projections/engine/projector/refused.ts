import type { Poison } from '../changes/poison.ts'
import { ProjectionError } from '../errors.ts'
import { cut } from '../text.ts'

// When the database refuses the content of rows, their stream is parked at the event that the rows come from. Other
// streams continue.

export interface RefusedEvent {
  readonly revision: number
  readonly poison: Poison
}

function refusal(error: unknown): Poison {
  if (error instanceof ProjectionError && error.code === 'ROWS_REFUSED')
    return {
      code: error.code,
      message: `${cut(error.message, 500)}; change the limit of the database, then release the stream`,
    }
  throw error
}

/**
 * Runs `work` on all items. When the database refuses them, runs it on each half, down to the refused item, which
 * `work` gets alone with the reason. Returns false as soon as `work` does. Rejects when that item is refused again.
 */
export async function bisected<T>(
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
  return (await bisected(items.slice(0, half), work)) && bisected(items.slice(half), work)
}

/** Runs `work` on the events up to a revision, or, when the database refuses them, up to the first refused event. */
export async function parkedAtRefusal(upTo: number, work: (refused?: RefusedEvent) => Promise<void>): Promise<void> {
  let poison: Poison
  try {
    return await work()
  } catch (error) {
    poison = refusal(error)
  }
  // Events before `known` are accepted; events before `beyond` are not.
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
