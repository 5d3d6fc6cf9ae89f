import { decodeText } from '../../../domain/calls/truncate.ts'
import { wellFormed } from '../../../domain/log/well-formed.ts'
import type { SearchMatch, Workspace } from '../../../domain/ports/index.ts'

/** The longest line to show whole, in characters. A longer line is cut around its match. */
const WINDOW = 2_000
/** The most bytes of files that one search checks for secrets. */
const MOST_BYTES = 16 * 1024 * 1024

const HIDDEN = '[not shown: it may be a part of a secret; use read_file]'

/**
 * Returns the text of matches without secrets. A secret may span many lines, and no single line shows that. A line is
 * therefore shown only if the redacted text of its whole file contains it. Redaction comes before truncation.
 */
export function safeLines(workspace: Workspace, redact: (text: string) => string) {
  let file = { path: '', lines: [] as readonly string[], safe: new Set<string>() }
  let left = MOST_BYTES
  const open = async (path: string) => {
    if (left <= 0) return { path, lines: [], safe: new Set<string>() }
    // An unreadable file shows no lines.
    const bytes = await workspace.read(path).catch(() => new Uint8Array())
    left -= bytes.length
    const text = decodeText(bytes)
    return { path, lines: linesOf(text), safe: new Set(linesOf(redact(text))) }
  }
  return async ({ path, line, column }: SearchMatch): Promise<string> => {
    // Matches of one file are adjacent.
    if (file.path !== path) file = await open(path)
    const text = file.lines[line - 1]
    if (text === undefined) return HIDDEN
    const shown = redact(text)
    if (!file.safe.has(shown) && !file.safe.has(text)) return HIDDEN
    return shown.length <= WINDOW ? shown : around(shown, redact(text.slice(0, column)).length)
  }
}

const linesOf = (text: string): string[] =>
  text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))

function around(line: string, at: number): string {
  const from = Math.max(0, Math.min(at, line.length) - WINDOW / 2)
  const part = wellFormed(line.slice(from, from + WINDOW))
  return `${from > 0 ? '…' : ''}${part}${from + WINDOW < line.length ? '…' : ''}`
}
