import { backoff } from '../../calls/judge-retry.ts'
import { ProviderError } from './errors.ts'

/** When to retry a failed attempt. Delays in ms, as in the retry policy of tools. */
export interface RetryPolicy {
  readonly maxRetries: number
  readonly backoffMs: number
  readonly backoffMultiplier: number
  readonly backoffCapMs: number
}

export const NO_RETRIES: RetryPolicy = { maxRetries: 0, backoffMs: 1_000, backoffMultiplier: 2, backoffCapMs: 60_000 }

/** 429: too many requests; 529: the model's service is overloaded. */
const STATUSES: readonly unknown[] = [429, 529]
/** System and HTTP client codes of network failures. */
const NETWORK =
  /^(?:ECONN(?:RESET|REFUSED|ABORTED)|ENET(?:DOWN|UNREACH|RESET)|EHOST(?:DOWN|UNREACH)|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE|UND_ERR_(?:SOCKET|CONNECT_TIMEOUT|HEADERS_TIMEOUT|BODY_TIMEOUT))$/

/** Whether a failure is temporary: a network error, a timeout, 429 or 529. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ProviderError)
    return error.network || error.code === 'TIMED_OUT' || STATUSES.includes(error.status)
  // A custom provider throws the errors of its HTTP client.
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < MAX_CAUSES; at = at.cause, depth++) {
    const { name, status, code } = at as Error & { readonly status?: unknown; readonly code?: unknown }
    if (STATUSES.includes(status) || name === 'TimeoutError') return true
    if (typeof code === 'string' && NETWORK.test(code)) return true
  }
  return false
}
const MAX_CAUSES = 5

/** Delay in ms before retry number `retry` (1, 2 …); null: do not retry. `jitter` is in [0, 1). */
export function retryDelay(policy: RetryPolicy, retry: number, error: unknown, jitter: number): number | null {
  if (retry > policy.maxRetries || !isTransient(error)) return null
  return backoff(policy, retry, jitter)
}
