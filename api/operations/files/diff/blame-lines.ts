import { diffLines } from 'diff'

/** Of edits between two versions; above it the whole of the later one counts as written by it. */
const EDITS = 4_000

/** Lines in a row that the same version wrote. `version`: its place among the versions. */
export interface BlamedPart {
  readonly version: number
  readonly text: string
}

/** Which of a file's versions, in order, wrote each line of the last one. Null: there was no such file, or it was no text. */
export function blameLines(versions: readonly (string | null)[]): BlamedPart[] {
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

/** With their ends. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
