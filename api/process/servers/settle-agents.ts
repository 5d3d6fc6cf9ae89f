import { operatorText } from '../../operations/notices.ts'
import type { Services } from '../../operations/services.ts'

/**
 * Periodically records the end of external agents' runs whose processes have died. The lease of such a run has expired.
 */
export function settleNowAndThen(
  { agents, clock }: Pick<Services, 'agents' | 'clock'>,
  everyMs: number,
  closed: AbortSignal,
  warn: (text: string) => void,
): void {
  if (agents === null) return
  let silent = false
  const settle = async () => {
    try {
      const settled = await agents.settle()
      if (settled > 0)
        warn(`runs of other agents that were cut off: ${settled}; their outcomes are recorded as unknown`)
      silent = false
    } catch (error) {
      // Other parts report servers that do not answer.
      if (!silent && !closed.aborted) warn(`runs of other agents stay open for now: ${operatorText(error)}`)
      silent = true
    }
  }
  void (async () => {
    while (!closed.aborted) {
      await settle()
      await clock.sleep(everyMs, closed).catch(() => undefined)
    }
  })()
}
