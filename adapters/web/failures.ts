import type { IncomingMessage } from 'node:http'
import { ToolError } from '../../domain/calls/errors.ts'

/** System error codes for a connection that was never established. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
])
const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE', 'UND_ERR_SOCKET'])

/** The ToolError of a failed request. Failed and broken connections are transient; other errors are not. */
export function requestFailure(error: unknown, host: string): ToolError {
  if (error instanceof ToolError) return error
  const { code = '', message } = causeOf(error)
  if (code === 'ENOTFOUND')
    return new ToolError('RESOURCE_NOT_FOUND', `there is no host ${host}`, { cause: error, beforeEffect: true })
  const unconnected = NEVER_CONNECTED.has(code)
  const transient = unconnected || BROKEN.has(code)
  const why = code === '' ? message : `${code}: ${message}`
  return new ToolError('EXECUTION_FAILED', `${host} could not be read: ${why}`, {
    cause: error,
    transient,
    beforeEffect: unconnected,
  })
}

/** The first error of several concurrent attempts (one per address), or the cause of a general error. */
function causeOf(error: unknown): { code?: string; message: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return causeOf(error.errors[0])
  const { code, message, cause } = error as NodeJS.ErrnoException
  if (cause instanceof Error && code === undefined) return causeOf(cause)
  return { ...(typeof code === 'string' && { code }), message: String(message ?? error) }
}

const MISSING = new Set([404, 410])
const OVERLOADED = new Set([408, 500, 502, 503, 504, 529])

/** The error of an HTTP status. Null: the answer is usable. */
export function statusFailure(host: string, status: number, headers: IncomingMessage['headers']): ToolError | null {
  if (status >= 200 && status < 300) return null
  if (MISSING.has(status)) return new ToolError('RESOURCE_NOT_FOUND', `${host} has no such page (HTTP ${status})`)
  if (status === 429) {
    const after = /^\d{1,6}$/.test(headers['retry-after'] ?? '') ? `; it asks to wait ${headers['retry-after']} s` : ''
    const options = { transient: true, beforeEffect: true }
    return new ToolError('RATE_LIMITED', `${host} answers too many requests (HTTP 429)${after}`, options)
  }
  const transient = OVERLOADED.has(status)
  return new ToolError('EXECUTION_FAILED', `${host} answers HTTP ${status}`, { transient })
}
