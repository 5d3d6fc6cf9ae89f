import type { SealedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import type { StreamPorts } from './ports.ts'

/** `fact`: it has happened, and is not given up soon. The signal: its sender has no time left. */
export interface Urgency {
  readonly fact: boolean
  readonly signal?: AbortSignal
}

/**
 * The one place where events are appended. An unknown outcome is answered by the same sealed bytes again; nothing is sealed
 * twice. Rejects with LogErrors, with LOG_UNAVAILABLE only when patience is at its end.
 */
export async function append(
  { log, clock }: Pick<StreamPorts, 'log' | 'clock'>,
  stream: string,
  expected: number,
  sealed: readonly SealedEvent[],
  { fact, signal }: Urgency,
): Promise<void> {
  const began = clock.now()
  for (let tries = 1; ; tries++) {
    try {
      await log.append(stream, expected, sealed)
      return
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== 'LOG_UNAVAILABLE') throw error
      // What has happened is not given up soon; a person who asks is told.
      const hurried = !fact || signal?.aborted === true
      if (clock.now() - began >= (hurried ? PATIENCE_MS : FACT_PATIENCE_MS)) throw error
      const pause = clock.sleep(Math.min(RESEND_DELAY_MS * tries, LONGEST_DELAY_MS), hurried ? undefined : signal)
      await pause.catch(() => undefined)
    }
  }
}

const RESEND_DELAY_MS = 50
const LONGEST_DELAY_MS = 2_000
const PATIENCE_MS = 2_000
const FACT_PATIENCE_MS = 30 * 60_000
