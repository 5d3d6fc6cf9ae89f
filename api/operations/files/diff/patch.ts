import { type StructuredPatchHunk, structuredPatch } from 'diff'
import { unmistakable } from '../../text/visible-text.ts'

/** A change in the form for people. */
export interface Patch {
  /** A unified diff. keepup's marks in it are between ‹ and ›, which shown text cannot contain. */
  readonly text: string
  /** A sentence for each omitted part. */
  readonly notes: readonly string[]
}

const MAX_TEXT = 256 * 1024
/** At least this many consecutive blank lines are replaced by their count. */
const BLANK_LINES = 4
/** A longer line is shown around its change, or, if the change removes or keeps it, by its start. In characters. */
const LONG_LINE = 2_000
/** The characters on each side of the change in a long line. */
const AROUND = 100
const CONTEXT = 3

/**
 * The change from one text to another. Skips equal starts and ends first, so a small change in a large text is found.
 * Texts with more than 2,000 edits appear as fully replaced, with the new lines first.
 */
export function patchOf(path: string, before: string, after: string): Patch {
  const name = unmistakable(path).replaceAll('\n', '‹U+000A›')
  const { skipped, from, to } = differing(before, after)
  const found = structuredPatch(name, name, from, to, '', '', { context: CONTEXT, maxEditLength: 2_000 })
  const hunks = found?.hunks ?? [replaced(from, to)]
  const lines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: changed }) => [
    `@@ -${place(oldStart + skipped, oldLines)} +${place(newStart + skipped, newLines)} @@`,
    ...readable(changed),
  ])
  const { text, notes } = bounded(lines)
  return {
    text: `--- ${name}\tnow\n+++ ${name}\tproposed\n${text}`,
    notes: before === after ? ['The content stays as it is now.'] : notes,
  }
}

/** The differing lines with lines of context, and the number of equal lines before them. */
function differing(before: string, after: string): { skipped: number; from: string; to: string } {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++
  start = lineStart(before, start, CONTEXT)
  let end = 0
  const most = shorter - start
  while (end < most && before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)) end++
  end = before.length - lineEnd(before, before.length - end, CONTEXT)
  return {
    skipped: before.slice(0, start).split('\n').length - 1,
    from: before.slice(start, before.length - end),
    to: after.slice(start, after.length - end),
  }
}

/** The start of the line at a position, or of the line `more` lines above it. */
function lineStart(text: string, at: number, more: number): number {
  let start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
  for (let i = 0; i < more && start > 0; i++) start = start === 1 ? 0 : text.lastIndexOf('\n', start - 2) + 1
  return start
}

/** The end of the line at a position, or of the line `more` lines below it. */
function lineEnd(text: string, at: number, more: number): number {
  let end = at
  for (let i = 0; i <= more && end < text.length; i++) {
    const newline = text.indexOf('\n', end)
    end = newline < 0 ? text.length : newline + 1
  }
  return end
}

/** A line range of a unified diff. An empty range names the line before it. */
const place = (start: number, lines: number) => `${lines === 0 ? start - 1 : start},${lines}`

function replaced(from: string, to: string): StructuredPatchHunk {
  const [old, proposed] = [linesOf(from), linesOf(to)]
  const lines = [...proposed.map((line) => `+${line}`), ...old.map((line) => `-${line}`)]
  return { oldStart: 1, oldLines: old.length, newStart: 1, newLines: proposed.length, lines }
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

/** The lines of a hunk with their marks. */
function readable(lines: readonly string[]): string[] {
  const shown: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const sign = line[0]!
    let blank = at
    while (lines[blank]?.[0] === sign && lines[blank]!.slice(1).trim() === '') blank++
    const next = lines[at + 1]
    const alone = lines[at - 1]?.[0] !== '-' && lines[at + 2]?.[0] !== '+'
    if (blank - at >= BLANK_LINES) {
      shown.push(`${sign}‹${blank - at} blank lines›`)
      at = blank - 1
    } else if (sign === '-' && next?.[0] === '+' && alone && Math.min(line.length, next.length) > LONG_LINE) {
      shown.push(...aroundChange(line.slice(1), next.slice(1)).map((text, i) => `${'-+'[i]}${text}`))
      at++
    } else if (sign !== '+' && line.length > LONG_LINE) {
      // Truncate the line, so that it leaves room for the added lines.
      shown.push(`${sign}${unmistakable(line.slice(1, LONG_LINE))}‹${line.length - LONG_LINE} more characters›`)
    } else shown.push(sign + unmistakable(line.slice(1)))
  }
  return shown
}

/** Two versions of a long line, without most of their common text. */
function aroundChange(before: string, after: string): [string, string] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const skip = { start: Math.max(0, start - AROUND), end: Math.max(0, end - AROUND) }
  const mark = (count: number) => (count === 0 ? '' : `‹${count} equal characters›`)
  const part = (line: string) =>
    mark(skip.start) + unmistakable(line.slice(skip.start, line.length - skip.end)) + mark(skip.end)
  return [part(before), part(after)]
}

/** Truncates a patch to {@link MAX_TEXT}, with a note about the rest. */
function bounded(lines: readonly string[]): Patch {
  let room = MAX_TEXT
  const shown: string[] = []
  for (const line of lines) {
    if (line.length > room) break
    shown.push(line)
    room -= line.length + 1
  }
  const rest = lines.slice(shown.length)
  const cutLine = rest[0]
  // If a single line is too long, show its start.
  if (cutLine !== undefined && room > LONG_LINE)
    shown.push(`${cutLine.slice(0, room)}‹${cutLine.length - room} more characters›`)
  const count = (sign: string) => rest.filter((line) => line.startsWith(sign)).length
  const hidden = `The preview is cut: ${count('+')} added and ${count('-')} removed lines are not shown in full.`
  return { text: shown.map((line) => `${line}\n`).join(''), notes: rest.length === 0 ? [] : [hidden] }
}
