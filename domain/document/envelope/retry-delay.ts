/** The number of retries after the first attempt. When they are used up, the call fails with RETRY_EXHAUSTED. */
export const MAX_RETRIES = 3
const BACKOFF_MS = 100
const BACKOFF_CAP_MS = 5000

/** Delay in ms. @param retry the number of the retry, from 1 */
export const retryDelayMs = (retry: number): number => Math.min(BACKOFF_CAP_MS, BACKOFF_MS * 2 ** (retry - 1))

/** The id of a retry of the request `first`. */
export const retryId = (first: string, retry: number): string => `${first}-retry-${retry}`

/** Splits an id into the id of the first request and the number of the retry; 0 is the first attempt. */
export function attemptOf(id: string): { readonly first: string; readonly retry: number } {
  const match = /^(.+)-retry-([1-9]\d{0,3})$/s.exec(id)
  return match === null ? { first: id, retry: 0 } : { first: match[1]!, retry: Number(match[2]) }
}
