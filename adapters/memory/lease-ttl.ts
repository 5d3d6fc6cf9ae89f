/** Checks the time to live of a lease, in ms. Throws RangeError. */
export function checkTtl(ttlMs: number): void {
  if (!(ttlMs > 0 && ttlMs <= 86_400_000))
    throw new RangeError(`a lease of ${ttlMs} ms cannot be taken; use more than 0 and at most a day`)
}
