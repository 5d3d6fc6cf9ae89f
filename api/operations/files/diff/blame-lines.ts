import { diffLines } from 'diff'

/** The most edits between two versions. Beyond it, the later version counts as the author of all lines. */
const EDITS = 4_000

/** Consecutive lines with the same author version. `version`: its index among the versions. */
export interface BlamedLines {
  readonly version: number
  readonly text: string
}

/** The version that wrote each line of the last version. Null in `versions`: the file did not exist or was not text. */
export function blameLines(versions: readonly (string | null)[]): BlamedLines[] {
  let lines: { text: string; version: number }[] = []
  let before: string | null = null
  for (const [version, text] of versions.entries()) {
    if (version > 0 && text === before) continue
    lines = text === null ? [] : rewritten(before === null ? null : lines, before ?? '', text, version)
    before = text
  }
  const parts: { version: number; text: string }[] = []
  for (const { text, version } of lines) {
    const last = parts.at(-1)
    if (last?.version === version) last.text += text
    else parts.push({ version, text })
  }
  return parts
}

function rewritten(
  before: readonly { text: string; version: number }[] | null,
  from: string,
  to: string,
  version: number,
): { text: string; version: number }[] {
  const changes = before === null ? undefined : diffLines(from, to, { maxEditLength: EDITS })
  if (before === null || changes === undefined) return linesOf(to).map((text) => ({ text, version }))
  let at = 0
  return changes.flatMap(({ added, removed, value, count = linesOf(value).length }) => {
    if (added) return linesOf(value).map((text) => ({ text, version }))
    at += count
    return removed ? [] : before.slice(at - count, at)
  })
}

/** Lines with their line ends. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
