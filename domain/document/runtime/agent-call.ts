import { ToolError } from '../../calls/errors.ts'
import { LogError } from '../../log/errors.ts'
import { ContentionError, TimeLimitError } from '../../stream/runtime/errors.ts'
import type { RefusedAnswer } from '../envelope/answers.ts'
import { DocumentError } from '../errors.ts'
import type { DocumentCaller } from './types.ts'

/** An agent's tool call that works on a document. */
export interface AgentCall {
  readonly runId: string
  readonly agentId: string
  readonly toolCallId: string
  readonly causationId?: string
  readonly correlationId?: string
  readonly signal: AbortSignal
  /** Redacts the secrets of the agent's run. */
  readonly redact?: (text: string) => string
}

/** The gateway writes for the agent. A request id belongs to one agent, so only this agent may retry the request. */
export function documentCallerOf({ agentId, runId, toolCallId, redact, ...call }: AgentCall): DocumentCaller {
  const { causationId, correlationId } = call
  return {
    ...{ by: { kind: 'gateway', id: agentId }, name: `agent:${agentId}`, runId, toolCallId },
    ...(causationId === undefined ? {} : { causationId }),
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(redact && { holdsSecret: (text: string) => redact(text) !== text }),
  }
}

/** Converts a final refusal to an error of the tool call. */
export const toolErrorOf = ({ status, body: { code, message } }: RefusedAnswer): ToolError =>
  new ToolError(status === 404 ? 'RESOURCE_NOT_FOUND' : 'INVALID_ARGUMENTS', `${code}: ${message}`)

/**
 * Converts document errors to errors of a tool call. A temporary error is marked `transient`, so the call may be
 * retried.
 */
export async function forTool<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof DocumentError && cause.code === 'DOCUMENT_UNKNOWN')
      throw new ToolError('RESOURCE_NOT_FOUND', 'there is no such document; list_documents shows all of them')
    if (cause instanceof DocumentError && OF_ARGUMENTS.has(cause.code))
      throw new ToolError('INVALID_ARGUMENTS', cause.message)
    if (!passes(cause)) throw cause
    throw new ToolError('EXECUTION_FAILED', (cause as Error).message, { transient: true, cause })
  }
}

const OF_ARGUMENTS: ReadonlySet<string> = new Set(['CONTENT_REFUSED', 'QUOTE_REFUSED', 'TOO_MANY_COMMENTS'])

const passes = (error: unknown): boolean =>
  error instanceof ContentionError ||
  error instanceof TimeLimitError ||
  (error instanceof LogError && error.code === 'LOG_UNAVAILABLE')
