/** The rate limit that the calls of a model share with all calls of the same provider and key. */
export interface SharedLimit {
  /** Identifies provider and key without revealing the key. */
  readonly key: string
  /** Requests per minute. Null: only the provider's refusals limit the calls. */
  readonly perMinute: number | null
}

/** The fraction of a minute's requests that may be made at once. */
const BURST = 0.1

/**
 * `everyMs`: the time between two requests. `aheadMs`: how much earlier than that pace a request may start. Both in ms;
 * 0: no limit.
 */
export function paceOf({ perMinute }: SharedLimit): { readonly everyMs: number; readonly aheadMs: number } {
  if (perMinute === null) return { everyMs: 0, aheadMs: 0 }
  const everyMs = 60_000 / perMinute
  return { everyMs, aheadMs: everyMs * Math.max(0, Math.ceil(perMinute * BURST) - 1) }
}
