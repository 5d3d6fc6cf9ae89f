/**
 * A change of a file that an external agent reports. `change`: a unified diff, or the texts before and after; null: the
 * agent reports only the path.
 */
export interface ReportedEdit {
  readonly path: string
  readonly change: string | { readonly before: string; readonly after: string } | null
}

type Members = Readonly<Record<string, unknown>>

/** The most edits of one call. */
const MOST = 200

/**
 * The file edits of a call in the vocabularies of Claude Code, Codex, Gemini, opencode and the Agent Client Protocol.
 * `input` and `result`: the data of the call as the adapter recorded them. The result's patch has the line numbers of the
 * file, so it replaces the edits of the input.
 */
export function reportedEdits(input: unknown, result: unknown): readonly ReportedEdit[] {
  const { patch } = membersOf(result)
  const edits = typeof patch === 'string' && patch !== '' ? filesOf(patch) : editsIn(membersOf(input))
  return edits.slice(0, MOST)
}

function editsIn(input: Members): ReportedEdit[] {
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

function editOf(path: string, edit: Members): ReportedEdit[] {
  const [before, after] = [firstText(edit, 'old_string', 'oldString'), firstText(edit, 'new_string', 'newString')]
  return before === null || after === null ? [] : [between(path, before, after)]
}

/** A difference in the content of a call of the Agent Client Protocol. */
function protocolDiff({ type, path, oldText, newText }: Members): ReportedEdit[] {
  if (type !== 'diff' || typeof path !== 'string' || typeof newText !== 'string') return []
  return [between(path, typeof oldText === 'string' ? oldText : '', newText)]
}

/** A change of Codex: its difference, if reported, has no file header. */
function change({ path, diff }: Members): ReportedEdit[] {
  if (typeof path !== 'string') return []
  return [{ path, change: typeof diff === 'string' && diff.startsWith('@@') ? withHeader(path, diff) : null }]
}

const HEAD = /^\*\*\* (?:Update|Add|Delete) File: (.+)$/

/** The files of Codex's patch envelope, which has no line numbers. */
function envelopeEdits(text: string): ReportedEdit[] {
  const begin = text.indexOf('*** Begin Patch')
  if (begin < 0) return []
  const found: { path: string; lines: string[] }[] = []
  for (const line of text.slice(begin).split('\n').slice(1)) {
    if (line.startsWith('*** End Patch')) break
    const path = HEAD.exec(line)?.[1]
    if (path !== undefined) found.push({ path, lines: [] })
    else if (!line.startsWith('***')) found.at(-1)?.lines.push(line)
  }
  return found.map(({ path, lines }) => ({
    path,
    change: lines.length === 0 ? null : withHeader(path, hunksOf(lines)),
  }))
}

const hunksOf = (lines: readonly string[]): string => (lines[0]?.startsWith('@@') ? lines : ['@@', ...lines]).join('\n')

/** The files of a unified diff. */
function filesOf(patch: string): ReportedEdit[] {
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
      change: withHeader(path, hunks.replace(/\n(?:diff --git|Index: )[^\n]*(?:\n=+)?(?:\nindex [^\n]*)?\n?$/, '')),
    }
  })
}

/** The name in a line like `+++ b/name<tab>time`. */
const nameIn = (line: string): string =>
  line
    .slice(4)
    .replace(/\t.*$/, '')
    .replace(/^[ab]\//, '')

const between = (path: string, before: string, after: string): ReportedEdit => ({ path, change: { before, after } })

export const withHeader = (path: string, hunks: string): string => `--- ${path}\n+++ ${path}\n${hunks}`

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}

function firstText(members: Members, ...names: readonly string[]): string | null {
  for (const name of names) if (typeof members[name] === 'string') return members[name]
  return null
}
