/** How long a cached answer is valid, in ms. */
export const REQUEST_CACHE_TTL_MS = 5 * 60_000
