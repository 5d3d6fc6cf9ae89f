import type { Clock } from '../../../ports/index.ts'
import type { ExecutionResult } from '../../../ports/spawn.ts'
import type { Agent, AgentResult } from '../agent.ts'
import { ProviderError } from '../errors.ts'
import { addTokens, NO_TOKENS, type TokenUsage } from '../token-usage.ts'

/** The default clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const stop = () => {
        clearTimeout(timer)
        reject(signal!.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }, ms)
      signal?.addEventListener('abort', stop, { once: true })
    }),
}

/** The reports of an agent's attempts: tokens and cost of all attempts, the rest from the last one. */
export class AttemptReports {
  tokenUsage: TokenUsage = NO_TOKENS
  #costUsd: number | null = null
  /** The log's run of the last recorded attempt. */
  runId: string | null = null
  #last: Pick<AgentResult, 'sessionId' | 'numTurns'> = {}

  failed(error: unknown): void {
    if (!(error instanceof ProviderError)) return
    if (error.tokenUsage !== null) this.tokenUsage = addTokens(this.tokenUsage, error.tokenUsage)
    if (error.runId !== null) this.runId = error.runId
    if (error.costUsd !== null) this.#costUsd = (this.#costUsd ?? 0) + error.costUsd
  }

  done({ costUsd, tokenUsage, sessionId, numTurns, runId }: ExecutionResult): void {
    if (runId !== undefined) this.runId = runId
    if (tokenUsage !== undefined) this.tokenUsage = addTokens(this.tokenUsage, tokenUsage)
    if (costUsd !== undefined) this.#costUsd = (this.#costUsd ?? 0) + costUsd
    this.#last = { ...(sessionId !== undefined && { sessionId }), ...(numTurns !== undefined && { numTurns }) }
  }

  /** The result of an ended agent. */
  result({ id: agentId, result, cancelled, tokenUsage, iterations }: Agent): AgentResult {
    return {
      ...{ agentId, result: cancelled ? '' : result, tokenUsage, iterations, children: [] },
      ...(this.#costUsd !== null && { costUsd: this.#costUsd }),
      ...(cancelled ? {} : this.#last),
    }
  }
}
