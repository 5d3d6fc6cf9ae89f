/** The kind of a patch line: file header, hunk header, added, removed, or (`''`) unchanged. */
export type PatchLine = 'head' | 'place' | 'added' | 'removed' | ''

/**
 * The kind of each line of a unified diff. Within a hunk only the first character decides, because an added line may
 * begin with `++`.
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
