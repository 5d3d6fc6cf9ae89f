import { createTwoFilesPatch } from 'diff'

/** Characters of a text that a person is shown. */
const MAX_TEXT = 256 * 1024

/** The changes that an approval would make, as a patch; of texts that differ too much only sizes, and the proposed one. */
export function patchOf(path: string, before: string, after: string): string {
  if (before.length + after.length <= MAX_TEXT) {
    // The edit distance is bounded, because the search costs its square.
    const patch = createTwoFilesPatch(path, path, before, after, 'now', 'proposed', { context: 3, maxEditLength: 2000 })
    if (patch !== undefined) return patch
  }
  return `${path}: ${before.length} characters now; proposed is a wholly different text of ${after.length} characters:\n${after.slice(0, MAX_TEXT)}`
}
