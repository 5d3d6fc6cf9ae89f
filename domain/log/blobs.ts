import type { SaltedBody } from './seal.ts'

/** Bodies over this size, in bytes, go to the blob store. */
export const MAX_INLINE_BODY = 64 * 1024

/** The maximum size of the inline bodies of one append that keepup writes, in bytes. Adapters accept more. */
export const MAX_INLINE_APPEND = 512 * 1024

/**
 * Chooses the bodies of an append for the blob store: those over 64 KiB, then the biggest (the earlier of two equal
 * ones) until at most 512 KiB stay inline. Takes sizes in bytes, returns their indices in ascending order.
 */
export function blobsOf(sizes: readonly number[]): readonly number[] {
  const chosen = new Set<number>()
  let inline = 0
  sizes.forEach((size, index) => {
    if (size > MAX_INLINE_BODY) chosen.add(index)
    else inline += size
  })
  if (inline > MAX_INLINE_APPEND) {
    const biggest = [...sizes.keys()].filter((i) => !chosen.has(i)).sort((a, b) => sizes[b]! - sizes[a]! || a - b)
    for (const index of biggest) {
      if (inline <= MAX_INLINE_APPEND) break
      chosen.add(index)
      inline -= sizes[index]!
    }
  }
  return [...chosen].sort((a, b) => a - b)
}

/** The same body, placed in the blob store. Its hash, which is its address, does not change. */
export function asBlob(body: SaltedBody): SaltedBody {
  return { bytes: body.bytes, header: { ...body.header, place: 'blob' } }
}
