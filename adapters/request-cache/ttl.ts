/** How long an answer stands for the same request, ms (CONTRACTS 9). */
export const REQUEST_CACHE_TTL_MS = 5 * 60_000
