import { CommandRejected } from '../../../domain/calls/errors.ts'
import { AgentError, CANCELLED, NOT_TERMINATED } from '../../../domain/external/errors.ts'
import { ProviderError, type ProviderFailure, SpawnError } from '../../../domain/external/spawn/errors.ts'
import type { ExternalState } from '../../../domain/external/state.ts'
import type { AgentCompletion } from '../../../domain/ports/external.ts'
import type { ExecutionResult, RunName } from '../../../domain/ports/spawn.ts'
import type { Budget } from '../../../domain/tree/spec.ts'
import type { HeardRun } from './recorded-run.ts'

// Results and errors of a run of Claude Code in the provider's terms (seed 004).

export const budgetFromDollars = (usd: number): Budget => ({ tokens: null, nanoDollars: Math.round(usd * 1e9) })

/** The result of a run that ended by itself. Throws a ProviderError if the run has no result. */
export function executed(
  { status, success, finalText }: AgentCompletion,
  state: ExternalState | null,
  heard: HeardRun,
): ExecutionResult {
  const why = heard.error === '' ? '' : `: ${heard.error}`
  if (status.code !== 0) {
    const how = status.code === null ? `was ended by ${status.signal}` : `exited with code ${status.code}`
    throw new ProviderError('EXITED', `claude ${how}${why}`, { ...failed(state, heard), exitCode: status.code })
  }
  if (!success || finalText === null)
    throw new ProviderError('PARSE_FAILED', `the output of claude failed to parse: it holds no result${why}`, {
      ...failed(state, heard),
      exitCode: 0,
    })
  return {
    result: heard.whole(finalText),
    ...usageOf(state),
    ...runOf(state),
    ...(state?.sessionId != null && { sessionId: state.sessionId }),
    ...(heard.numTurns !== null && { numTurns: heard.numTurns }),
  }
}

/** The error of a run that did not end by itself. */
export function executionError(
  error: unknown,
  state: ExternalState | null,
  heard: HeardRun,
  timeoutMs: number,
): ProviderError {
  const message = error instanceof Error ? error.message : String(error)
  const told = { ...failed(state, heard), cause: error }
  if (!(error instanceof AgentError)) return new ProviderError('NOT_RECORDED', message, told)
  if (message === CANCELLED)
    return new ProviderError(
      'CANCELLED',
      'claude was cancelled: its end was asked for, or its budget was used up',
      told,
    )
  if (message.startsWith('timed out'))
    return new ProviderError('TIMED_OUT', `claude timed out after ${timeoutMs} ms`, told)
  if (message.startsWith('the run could not be recorded')) return new ProviderError('NOT_RECORDED', message, told)
  if (message === NOT_TERMINATED) return new ProviderError('EXITED', `claude ${message}`, told)
  return new ProviderError('SPAWN_FAILED', `claude failed to spawn: ${message}`, told)
}

/** The error of a run that did not start. */
export function startError(error: unknown, name: string | undefined): Error {
  if (!(error instanceof AgentError)) return error as Error
  if (error.cause instanceof CommandRejected && error.cause.code === 'RUN_EXISTS')
    return new SpawnError('DUPLICATE_AGENT', `"${name}" was run before a crash; resume it, end it, or use another id`, {
      ...{ cause: error, ...(name !== undefined && { notBegun: name }) },
    })
  if (error.message.startsWith('the run could not be recorded'))
    return new ProviderError('NOT_RECORDED', error.message, { cause: error })
  return new ProviderError('SPAWN_FAILED', `claude failed to spawn: ${error.message}`, { cause: error })
}

export const notResumable = ({ agentId }: RunName, why: string): SpawnError =>
  new SpawnError('NOT_RESUMABLE', `"${agentId}" ${why}; end it by its id, or run another agent`, { notBegun: agentId })

const failed = (state: ExternalState | null, { status, network }: HeardRun): ProviderFailure => ({
  ...usageOf(state),
  ...runOf(state),
  ...(status !== null && { status }),
  ...(network && { network }),
})

const runOf = (state: ExternalState | null) => (state === null ? {} : { runId: state.runId })

/**
 * Tokens and dollars. In a resumed session the dollars include the earlier use of the session, which is the use of the
 * agent.
 */
function usageOf(state: ExternalState | null): Pick<ExecutionResult, 'tokenUsage' | 'costUsd'> {
  if (state?.usage == null) return {}
  const { inputTokens, outputTokens, cost } = state.usage
  const [input, output] = [inputTokens ?? 0, outputTokens ?? 0]
  return {
    tokenUsage: { inputTokens: input, outputTokens: output, totalTokens: input + output },
    ...(cost !== null && { costUsd: cost.nanoDollars / 1e9 }),
  }
}
