import type { SealedEvent } from '../../log/envelope.ts'
import { LogError, noRoomIn } from '../../log/errors.ts'
import type { StreamPorts } from './ports.ts'
import { isUnavailable, type Retry } from './retry.ts'

/**
 * The one place where events are appended. While the outcome is unknown the same sealed bytes are sent again; nothing is
 * sealed twice. Rejects with LogErrors: with LOG_UNAVAILABLE only at the limit of the policy, within whose `once` or `repeat`
 * it is to be called.
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

/** A full disk answers this attempt, but says nothing of the ones before. Every other refusal holds for them too. */
function stillInDoubt(error: unknown): LogError {
  if (isUnavailable(error)) return error
  if (noRoomIn(error) === null) throw error
  return new LogError('LOG_UNAVAILABLE', (error as Error).message, { cause: error })
}
