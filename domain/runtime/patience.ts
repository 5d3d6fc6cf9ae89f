import { LogError, noRoomIn } from '../log/errors.ts'
import { TimeLimitError } from './errors.ts'
import type { RuntimePorts } from './ports.ts'

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 30_000

/** How long a fact waits for room on the disk, or for stores that answer, where the host does not say otherwise, ms. */
export const PATIENCE_MS = 5 * 60_000

/**
 * Brings a fact in that could not be stored, again and again: what has happened must not be lost because a disk was full,
 * or a store out of reach, for a moment. Gives up with the error when the patience ends, or `signal` aborts; a
 * callback tells what it waits for.
 */
export async function patiently(
  ports: Pick<RuntimePorts, 'clock' | 'patienceMs' | 'warn'>,
  agentId: string,
  signal: AbortSignal,
  bringIn: () => Promise<void>,
): Promise<void> {
  const { clock, patienceMs = PATIENCE_MS } = ports
  const until = clock.now() + patienceMs
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 2, LONGEST_DELAY_MS)) {
    try {
      return await bringIn()
    } catch (error) {
      const left = until - clock.now()
      if (!passes(error) || left <= 0 || signal.aborted) throw error
      const wait = Math.min(delay, left)
      ports.warn?.(
        agentId,
        `${(error as Error).message}; what has happened is kept for ${left} ms, next try in ${wait} ms`,
      )
      await clock.sleep(wait, signal).catch(() => undefined)
    }
  }
}

const passes = (error: unknown): boolean =>
  noRoomIn(error) !== null ||
  error instanceof TimeLimitError ||
  (error instanceof LogError && error.code === 'LOG_UNAVAILABLE')
