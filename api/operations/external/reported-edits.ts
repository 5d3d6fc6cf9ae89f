import { createTwoFilesPatch } from 'diff'
import { type ReportedEdit, reportedEdits, withHeader } from '../../../domain/external/reported-edits.ts'

/**
 * A change of a file that an external agent reports. `patch`: a unified diff; null: the agent reports only the path, or
 * texts without a difference. A function compares texts for at most `ms` milliseconds; null: they are too long.
 */
export interface FileEdit {
  readonly path: string
  readonly patch: string | null | ((ms: number) => string | null)
}

/** The longest texts that are compared, in UTF-16 code units together, and the most differences between them. */
const LONGEST = 100_000
const MOST_DIFFERENCES = 1_000

/** The longest time for the comparison of two texts, in ms. */
const COMPARING_MS = 100

export interface Patch {
  readonly patch: string | null
  /** The texts are too long to compare, or too different. */
  readonly tooLong?: true
}

/** Compares the texts of edits, for at most `ms` milliseconds together. */
export function patching(ms: number): (edit: FileEdit) => Patch {
  let left = ms
  return ({ patch }) => {
    if (typeof patch !== 'function') return { patch }
    const begun = performance.now()
    const found = patch(Math.min(COMPARING_MS, left))
    left -= performance.now() - begun
    return found === null ? { patch: null, tooLong: true } : { patch: found }
  }
}

/** The file edits of a call. `input` and `result`: see {@link reportedEdits}. */
export const fileEdits = (input: unknown, result: unknown): readonly FileEdit[] =>
  reportedEdits(input, result).map(editOf)

function editOf({ path, change }: ReportedEdit): FileEdit {
  return change === null || typeof change === 'string'
    ? { path, patch: change }
    : between(path, change.before, change.after)
}

function between(path: string, before: string, after: string): FileEdit {
  const [a, b] = [withEnd(before), withEnd(after)]
  if (a === b) return { path, patch: null }
  if (a === '') return { path, patch: withHeader(path, hunkOf('+', b)) }
  if (b === '') return { path, patch: withHeader(path, hunkOf('-', a)) }
  return { path, patch: (ms) => compared(path, a, b, ms) }
}

function compared(path: string, a: string, b: string, ms: number): string | null {
  if (a.length + b.length > LONGEST || ms <= 0) return null
  const options = { context: 3, maxEditLength: MOST_DIFFERENCES, timeout: ms }
  const found = createTwoFilesPatch(path, path, a, b, '', '', options)
  return found === undefined ? null : withHeader(path, found.slice(found.indexOf('@@')))
}

const withEnd = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

/** The hunk of a text that is added or removed whole. */
function hunkOf(sign: '+' | '-', text: string): string {
  const lines = text.slice(0, -1).split('\n')
  const [none, all] = ['0,0', `1,${lines.length}`]
  const head = sign === '+' ? `@@ -${none} +${all} @@` : `@@ -${all} +${none} @@`
  return [head, ...lines.map((line) => sign + line), ''].join('\n')
}
