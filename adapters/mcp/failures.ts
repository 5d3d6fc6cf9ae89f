import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, type Transport } from '@modelcontextprotocol/client'
import { ToolError } from '../../domain/calls/errors.ts'
import { headOf } from '../../domain/calls/truncate.ts'

const [METHOD_NOT_FOUND, INVALID_PARAMS] = [-32601, -32602]
const LOST: ReadonlySet<string> = new Set([
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.NotConnected,
  SdkErrorCode.SendFailed,
])
const MESSAGE_BYTES = 4_096
/** System error codes for a connection that was never established. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'],
])
const BROKEN: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
/** The answers of an HTTP server that does not know the session: 404, or 400 from older servers. */
const NOT_ACCEPTED: ReadonlySet<unknown> = new Set([400, 404])

/** Whether an HTTP server has forgotten the session, for example after a restart. Only a new connection helps. */
export const sessionLost = (error: unknown, { sessionId }: Pick<Transport, 'sessionId'>): boolean =>
  sessionId !== undefined && error instanceof SdkHttpError && NOT_ACCEPTED.has(error.data.status)

/**
 * The error of a call that the server did not answer as a tool's failure (CONTRACTS 8). `ending`: how the server's
 * process ended, if it has.
 */
export function callFailure(server: string, error: unknown, ending: string | null): ToolError {
  if (error instanceof ToolError) return error
  const say = (text: string) => headOf(`MCP server "${server}" ${text}`, MESSAGE_BYTES)
  const { message } = error as Error
  if (ending !== null || (error instanceof SdkError && LOST.has(error.code)))
    return new ToolError('EXECUTION_FAILED', say(`${ending ?? 'closed the connection'} during the call`), {
      cause: error,
      transient: true,
    })
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return new ToolError('TIMEOUT', say('did not answer in time'), { cause: error, transient: true })
  if (error instanceof SdkHttpError) return httpFailure(say, error)
  const { code } = ((error as Error).cause ?? {}) as { code?: unknown }
  if (NEVER_CONNECTED.has(code))
    return new ToolError('EXECUTION_FAILED', say(`cannot be reached: ${code}`), {
      cause: error,
      transient: true,
      beforeEffect: true,
    })
  if (BROKEN.has(code))
    return new ToolError('EXECUTION_FAILED', say('closed the connection during the call'), {
      cause: error,
      transient: true,
    })
  if (error instanceof ProtocolError) {
    const code =
      error.code === INVALID_PARAMS
        ? 'INVALID_ARGUMENTS'
        : error.code === METHOD_NOT_FOUND
          ? 'RESOURCE_NOT_FOUND'
          : 'EXECUTION_FAILED'
    return new ToolError(code, say(`refused the call: ${message}`), { cause: error })
  }
  return new ToolError('EXECUTION_FAILED', say(`failed: ${message}`), { cause: error })
}

function httpFailure(say: (text: string) => string, error: SdkHttpError): ToolError {
  const { status } = error.data
  if (status === 429)
    return new ToolError('RATE_LIMITED', say('answers too many requests (HTTP 429)'), {
      transient: true,
      beforeEffect: true,
    })
  if (NOT_ACCEPTED.has(status))
    return new ToolError('EXECUTION_FAILED', say(`did not accept the request (HTTP ${status})`), {
      cause: error,
      transient: true,
      beforeEffect: true,
    })
  return new ToolError('EXECUTION_FAILED', say(`answers HTTP ${status}`), {
    cause: error,
    transient: (status ?? 0) >= 500,
  })
}
