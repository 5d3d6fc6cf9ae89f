import type { Clock } from '../../../domain/ports/index.ts'
import { TimeLimitError } from '../../../domain/stream/runtime/errors.ts'
import { within } from '../../../domain/stream/runtime/time-limit.ts'
import { unlessAborted } from './unless-aborted.ts'

/** The answer, or `late` after `ms` or when the signal aborts. Rejects like the answer. */
export async function withinOr<T, L>(
  clock: Clock,
  ms: number,
  answer: Promise<T>,
  late: L,
  signal?: AbortSignal,
): Promise<T | L> {
  try {
    return await within(clock, ms, 'the answer', signal === undefined ? answer : unlessAborted(answer, signal))
  } catch (error) {
    if (error instanceof TimeLimitError || signal?.aborted) return late
    throw error
  }
}
