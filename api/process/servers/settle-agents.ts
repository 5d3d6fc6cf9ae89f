import { told } from '../../operations/notices.ts'
import type { Services } from '../../operations/services.ts'

/**
 * Ends in the log, now and then, what processes that are gone have left running of other agents. The lease of such a run has
 * run out by then.
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
      // The parts that need the servers report those that do not answer.
      if (!silent && !closed.aborted) warn(`runs of other agents stay open for now: ${told(error)}`)
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
