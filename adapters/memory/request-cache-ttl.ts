/** How long an answer stands for the same request, ms. */
export const REQUEST_CACHE_TTL_MS = 5 * 60_000
