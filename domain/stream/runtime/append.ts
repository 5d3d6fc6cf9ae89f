import type { SealedEvent } from '../../log/envelope.ts'
import { LogError, noRoomIn } from '../../log/errors.ts'
import { isUnavailable, type Retry } from './append-retry.ts'
import type { StreamPorts } from './ports.ts'

/**
 * Every append goes through this function. While the outcome is unknown, it sends the same sealed bytes again; it seals
 * nothing twice. Call it within the policy's `once` or `repeat`. Rejects with LogErrors: with LOG_UNAVAILABLE only at
 * the policy's limit.
 */
export async function append(
  { log }: Pick<StreamPorts, 'log'>,
  stream: string,
  expected: number,
  sealed: readonly SealedEvent[],
  retry: Retry,
): Promise<void> {
  for (let inDoubt = false; ; ) {
    try {
      await retry.attempt((limitMs) => log.append(stream, expected, sealed, limitMs))
      return
    } catch (error) {
      inDoubt ||= isUnavailable(error)
      if (!inDoubt) throw error
      await retry.pause(stillInDoubt(error))
    }
  }
}

/** After a full disk the outcome of earlier attempts stays unknown. Any other refusal settles them too. */
function stillInDoubt(error: unknown): LogError {
  if (isUnavailable(error)) return error
  if (noRoomIn(error) === null) throw error
  return new LogError('LOG_UNAVAILABLE', (error as Error).message, { cause: error })
}
