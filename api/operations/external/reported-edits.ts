import { createTwoFilesPatch } from 'diff'

/**
 * A change of a file that an external agent reports. `patch`: a unified diff; null: the agent reports only the path, or
 * texts without a difference. A function compares texts for at most `ms` milliseconds; null: they are too long.
 */
export interface FileEdit {
  readonly path: string
  readonly patch: string | null | ((ms: number) => string | null)
}

type Members = Readonly<Record<string, unknown>>

/** The most edits of one call. */
const MOST = 200
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

/**
 * The file edits of a call in the vocabularies of Claude Code, Codex, Gemini, opencode and the Agent Client Protocol.
 * `input` and `result`: the data of the call as the adapter recorded them. The result's patch has the line numbers of the
 * file, so it replaces the edits of the input.
 */
export function fileEdits(input: unknown, result: unknown): readonly FileEdit[] {
  const { patch } = membersOf(result)
  const edits = typeof patch === 'string' && patch !== '' ? filesOf(patch) : editsIn(membersOf(input))
  return edits.slice(0, MOST)
}

function editsIn(input: Members): FileEdit[] {
  const path = firstText(input, 'file_path', 'filePath', 'path', 'notebook_path')
  const [before, after] = [firstText(input, 'old_string', 'oldString'), firstText(input, 'new_string', 'newString')]
  const content = firstText(input, 'content', 'new_source')
  if (path !== null && before !== null && after !== null) return [between(path, before, after)]
  if (path !== null && Array.isArray(input.edits)) return input.edits.map(membersOf).flatMap((one) => editOf(path, one))
  if (path !== null && content !== null) return [between(path, '', content)]
  if (Array.isArray(input.content)) return input.content.map(membersOf).flatMap(protocolDiff)
  if (Array.isArray(input.changes)) return input.changes.map(membersOf).flatMap(change)
  const text = firstText(input, 'patchText', 'patch', 'input', 'command')
  return text === null ? [] : envelopeEdits(text)
}

function editOf(path: string, edit: Members): FileEdit[] {
  const [before, after] = [firstText(edit, 'old_string', 'oldString'), firstText(edit, 'new_string', 'newString')]
  return before === null || after === null ? [] : [between(path, before, after)]
}

/** A difference in the content of a call of the Agent Client Protocol. */
function protocolDiff({ type, path, oldText, newText }: Members): FileEdit[] {
  if (type !== 'diff' || typeof path !== 'string' || typeof newText !== 'string') return []
  return [between(path, typeof oldText === 'string' ? oldText : '', newText)]
}

/** A change of Codex: its difference, if reported, has no file header. */
function change({ path, diff }: Members): FileEdit[] {
  if (typeof path !== 'string') return []
  return [{ path, patch: typeof diff === 'string' && diff.startsWith('@@') ? withHeader(path, diff) : null }]
}

const HEAD = /^\*\*\* (?:Update|Add|Delete) File: (.+)$/

/** The files of Codex's patch envelope, which has no line numbers. */
function envelopeEdits(text: string): FileEdit[] {
  const begin = text.indexOf('*** Begin Patch')
  if (begin < 0) return []
  const found: { path: string; lines: string[] }[] = []
  for (const line of text.slice(begin).split('\n').slice(1)) {
    if (line.startsWith('*** End Patch')) break
    const path = HEAD.exec(line)?.[1]
    if (path !== undefined) found.push({ path, lines: [] })
    else if (!line.startsWith('***')) found.at(-1)?.lines.push(line)
  }
  return found.map(({ path, lines }) => ({ path, patch: lines.length === 0 ? null : withHeader(path, hunksOf(lines)) }))
}

const hunksOf = (lines: readonly string[]): string => (lines[0]?.startsWith('@@') ? lines : ['@@', ...lines]).join('\n')

/** The files of a unified diff. */
function filesOf(patch: string): FileEdit[] {
  const lines = patch.split('\n')
  const starts = lines.flatMap((line, i) => (/^--- /.test(line) && /^\+\+\+ /.test(lines[i + 1] ?? '') ? [i] : []))
  return starts.map((start, n) => {
    const [before, after] = [nameIn(lines[start]!), nameIn(lines[start + 1]!)]
    const path = after === '/dev/null' ? before : after
    const rest = lines.slice(start + 2, starts[n + 1] ?? lines.length)
    const hunks = rest
      .slice(
        Math.max(
          0,
          rest.findIndex((line) => line.startsWith('@@')),
        ),
      )
      .join('\n')
    // The header of the next file follows the last hunk.
    return {
      path,
      patch: withHeader(path, hunks.replace(/\n(?:diff --git|Index: )[^\n]*(?:\n=+)?(?:\nindex [^\n]*)?\n?$/, '')),
    }
  })
}

/** The name in a line like `+++ b/name<tab>time`. */
const nameIn = (line: string): string =>
  line
    .slice(4)
    .replace(/\t.*$/, '')
    .replace(/^[ab]\//, '')

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

const withHeader = (path: string, hunks: string): string => `--- ${path}\n+++ ${path}\n${hunks}`

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}

function firstText(members: Members, ...names: readonly string[]): string | null {
  for (const name of names) if (typeof members[name] === 'string') return members[name]
  return null
}
