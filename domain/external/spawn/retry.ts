import { backoff } from '../../agent/rules/retry.ts'
import { ProviderError } from './errors.ts'

/** When a failed attempt is made again. Delays in ms, as those of tools' retries. */
export interface RetryPolicy {
  readonly maxRetries: number
  readonly backoffMs: number
  readonly backoffMultiplier: number
  readonly backoffCapMs: number
}

export const NO_RETRIES: RetryPolicy = { maxRetries: 0, backoffMs: 1_000, backoffMultiplier: 2, backoffCapMs: 60_000 }

/** Too many requests; the model's service is overloaded. */
const STATUSES: readonly unknown[] = [429, 529]
/** Codes of the system and of HTTP clients for a network that failed. */
const NETWORK =
  /^(?:ECONN(?:RESET|REFUSED|ABORTED)|ENET(?:DOWN|UNREACH|RESET)|EHOST(?:DOWN|UNREACH)|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE|UND_ERR_(?:SOCKET|CONNECT_TIMEOUT|HEADERS_TIMEOUT|BODY_TIMEOUT))$/

/** Did the attempt fail for a reason that passes: network errors, time limits, 429 and 529? */
export function isTransient(error: unknown): boolean {
  if (error instanceof ProviderError)
    return error.network || error.code === 'TIMED_OUT' || STATUSES.includes(error.status)
  // A provider of the caller's own throws what its client throws.
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < MAX_CAUSES; at = at.cause, depth++) {
    const { name, status, code } = at as Error & { readonly status?: unknown; readonly code?: unknown }
    if (STATUSES.includes(status) || name === 'TimeoutError') return true
    if (typeof code === 'string' && NETWORK.test(code)) return true
  }
  return false
}
const MAX_CAUSES = 5

/** Ms before retry number `retry` (1, 2 …); null: it is not made. `jitter` in [0, 1). */
export function retryDelay(policy: RetryPolicy, retry: number, error: unknown, jitter: number): number | null {
  if (retry > policy.maxRetries || !isTransient(error)) return null
  return backoff({ ...policy, retryableErrors: [] } as never, retry, jitter)
}
