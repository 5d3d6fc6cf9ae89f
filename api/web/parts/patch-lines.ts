/** What a line of a patch is: of the head of a file, the place of a hunk, or a line that was added, removed or kept. */
export type PatchLine = 'head' | 'place' | 'added' | 'removed' | ''

/**
 * The kind of each line of a unified diff. Within a hunk a line is what its first character says: an added line may itself
 * begin with `++`, and is no head for that.
 */
export function kindsOf(lines: readonly string[]): PatchLine[] {
  let inHunk = false
  return lines.map((line) => {
    if (line.startsWith('@@')) inHunk = true
    else if (/^(?:diff |Index: )/.test(line)) inHunk = false
    if (line.startsWith('@@')) return 'place'
    if (!inHunk) return 'head'
    return line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : ''
  })
}
