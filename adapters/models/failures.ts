import { ModelError, type ModelErrorCode } from '../../domain/calls/errors.ts'
import { RETRY_AFTER_CAP_MS } from '../../domain/calls/judge-retry.ts'
import { unhidableKey } from '../../domain/secrets/forms.ts'
import { fields } from './fields.ts'

const OVERFLOW =
  /prompt is too long|context[ _]?(length|window|size)|maximum context|exceeds? (the )?(available )?context|too many (input )?tokens|input is too long/i
const BILLING = /credit balance|insufficient_quota|exceeded your current quota|billing/i
const TIMED_OUT = new Set(['ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT'])

/** Members of an error of either SDK. */
interface Reported {
  readonly message?: unknown
  readonly status?: unknown
  readonly error?: unknown
  readonly headers?: unknown
  readonly cause?: unknown
  readonly name?: unknown
}

/**
 * Translates an error of any provider's SDK into a ModelError by its status, type and code. Does not attach the
 * original error, which may contain headers and bodies. Removes `secrets` from the message.
 */
export function toModelError(provider: string, error: unknown, secrets: readonly string[]): ModelError {
  if (error instanceof ModelError) return error
  // The SDK wraps the errors of {@link boundedFetch}.
  if (error instanceof Error && error.cause instanceof ModelError) return error.cause
  const reported = (typeof error === 'object' && error !== null ? error : {}) as Reported
  const detail = detailOf(reported)
  const status = typeof reported.status === 'number' ? reported.status : detail.status
  const text = blot(`${provider}: ${detail.message}`, secrets)
  const { code, transient } = classify(status, detail, reported)
  const retryAfterMs = retryAfter(reported.headers)
  return new ModelError(code, text, { transient, ...(retryAfterMs === null ? {} : { retryAfterMs }) })
}

interface Detail {
  readonly message: string
  /** The provider's type and code of the error. */
  readonly kind: string
  readonly status: number | undefined
}

function detailOf(reported: Reported): Detail {
  const outer = fields(reported.error)
  const inner = fields(outer.error ?? reported.error)
  const kind = [inner.type, inner.code].filter((v) => typeof v === 'string').join(' ')
  const status = typeof inner.code === 'number' ? inner.code : undefined
  const cause = networkCode(reported)
  const said = [inner.message, outer.error, reported.error, reported.message].find((v) => typeof v === 'string')
  return { message: `${said ?? 'failed without a message'}${cause ? ` (${cause})` : ''}`, kind, status }
}

type Class = { readonly code: ModelErrorCode; readonly transient: boolean }
const passing = (code: ModelErrorCode): Class => ({ code, transient: true })
const lasting = (code: ModelErrorCode): Class => ({ code, transient: false })

function classify(status: number | undefined, { kind, message }: Detail, reported: Reported): Class {
  if (status === 402 || BILLING.test(kind) || (status === 400 && BILLING.test(message))) {
    return lasting('PERMISSION_DENIED')
  }
  if (status === 429 || /rate_limit/.test(kind)) return passing('RATE_LIMITED')
  if (status === 408 || status === 504 || /timeout_error/.test(kind)) return passing('TIMEOUT')
  if (status === 401 || /authentication_error|invalid_api_key/.test(kind)) return lasting('AUTHENTICATION')
  if (status === 413 || /request_too_large|context_length|context_size/.test(kind)) return lasting('CONTEXT_OVERFLOW')
  // Some local servers answer 500 to a prompt that does not fit.
  if ((status === undefined || status === 400 || status === 422 || status === 500) && OVERFLOW.test(message)) {
    return lasting('CONTEXT_OVERFLOW')
  }
  if (status === 403 || /permission_error/.test(kind)) return lasting('PERMISSION_DENIED')
  if (status === 404 || /not_found/.test(kind)) return lasting('NOT_FOUND')
  if (status === 409 || (status ?? 0) >= 500 || /overloaded|api_error|server_error/.test(kind))
    return passing('OVERLOADED')
  if (status !== undefined || /invalid_request/.test(kind)) return lasting('INVALID_REQUEST')
  return unanswered(reported)
}

/** Classifies an error without status and kind: no answer, a partial answer, or an unreadable answer. */
function unanswered(reported: Reported): Class {
  const code = networkCode(reported)
  if (code === 'ERR_INVALID_URL') return lasting('INVALID_REQUEST')
  if (code !== null && TIMED_OUT.has(code)) return passing('TIMEOUT')
  if (/timed out/i.test(String(reported.message))) return passing('TIMEOUT')
  if (reported instanceof SyntaxError) return passing('INVALID_RESPONSE')
  if (code !== null || /terminated|fetch failed|connection error|socket|network/i.test(String(reported.message))) {
    return passing('NETWORK')
  }
  if (reported.error !== undefined) return passing('OVERLOADED')
  return lasting('INVALID_RESPONSE')
}

function networkCode(error: Reported): string | null {
  let at: unknown = error
  for (let depth = 0; depth < 5 && typeof at === 'object' && at !== null; depth += 1) {
    const { code, cause } = at as { code?: unknown; cause?: unknown }
    if (typeof code === 'string' && /^(E[A-Z]|UND_ERR|ERR_|CERT_|DEPTH_|SELF_|UNABLE_)/.test(code)) return code
    at = cause
  }
  return null
}

/** The requested wait in ms, capped, or null. Headers: `retry-after-ms`, or `retry-after` in seconds or as a date. */
function retryAfter(headers: unknown): number | null {
  if (!(headers instanceof Headers)) return null
  const ms = headers.get('retry-after-ms')
  const after = headers.get('retry-after')
  const wait = ms !== null ? Number(ms) : after === null ? Number.NaN : seconds(after)
  return Number.isFinite(wait) ? Math.min(Math.max(0, Math.ceil(wait)), RETRY_AFTER_CAP_MS) : null
}

function seconds(value: string): number {
  return /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
}

/**
 * Replaces every secret in a text, in plain and URL-escaped form. Call before any truncation, which could split a
 * secret.
 */
export function blot(text: string, secrets: readonly string[]): string {
  let clean = text.toWellFormed()
  for (const secret of secrets) {
    if (unhidableKey(secret) !== null) continue
    clean = clean.replaceAll(secret, '[key]').replaceAll(encodeURIComponent(secret), '[key]')
  }
  return clean
}
