import type { Call } from './call.ts'
import type { ErrorRecoveryPolicy } from './policy-schema.ts'

// Retries (seed 000, 5.10).

/**
 * The signature of a failure: tool, code, and the message with normalized numbers, ids and white space. Two failures
 * with the same signature count as the same failure.
 */
export function errorSignature(toolName: string, code: string, message: string): string {
  const even = message
    .toLowerCase()
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '#')
    .replaceAll(/\b(?=[a-z]*\d)[0-9a-z_-]{12,}\b/g, '#')
    .replaceAll(/\d+/g, '#')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return `${toolName}|${code}|${even.slice(0, 200)}`
}

/** Delays of retries, ms. */
type Backoff = Pick<ErrorRecoveryPolicy, 'backoffMs' | 'backoffMultiplier' | 'backoffCapMs'>

/**
 * Delay before retry number `retry` (1, 2 …), ms. `jitter` in [0, 1) adds up to a tenth, within the cap. `retryAfterMs`
 * is a lower bound, up to {@link RETRY_AFTER_CAP_MS}.
 */
export function backoff(policy: Backoff, retry: number, jitter: number, retryAfterMs = 0): number {
  const plain = policy.backoffMs * policy.backoffMultiplier ** (retry - 1) * (1 + jitter / 10)
  return Math.round(Math.max(Math.min(policy.backoffCapMs, plain), Math.min(retryAfterMs, RETRY_AFTER_CAP_MS)))
}

/** The longest Retry-After of a provider that is honoured, ms. */
export const RETRY_AFTER_CAP_MS = 60_000

export type RetryVerdict =
  | { readonly retry: true; readonly signature: string }
  | { readonly retry: false; readonly exhausted: boolean }

export function judgeRetry(
  policy: ErrorRecoveryPolicy,
  call: Call,
  error: { code: string; message: string; transient: boolean; beforeEffect: boolean },
): RetryVerdict {
  const signature = errorSignature(call.toolName, error.code, error.message)
  const transient = error.transient || policy.retryableErrors.includes(error.code)
  const safe = call.effect !== 'irreversible' || error.beforeEffect
  if (!transient || !safe || call.signatures.includes(signature)) return { retry: false, exhausted: false }
  const made = call.attempt - call.lost
  return made > policy.maxRetries ? { retry: false, exhausted: true } : { retry: true, signature }
}
