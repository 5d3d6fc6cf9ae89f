import { type Marks, mergedRuns, type TextRun } from '../model/runs.ts'
import { dropControls, lineFeeds } from '../model/text.ts'

/** A sequence of inline content before white space is collapsed. `verbatim`: code; `break`: a line break. */
export interface InlinePiece {
  readonly kind: 'text' | 'verbatim' | 'break'
  readonly text: string
  readonly marks: Marks
}

export const piece = (kind: InlinePiece['kind'], text: string, marks: Marks): InlinePiece => ({
  kind,
  text: dropControls(lineFeeds(text)),
  marks,
})

/** The canonical form of inline content: white space collapsed outside code, runs merged, text in NFC. */
export function collapsed(pieces: readonly InlinePiece[]): TextRun[] {
  const out: InlinePiece[] = []
  let atEdge: boolean = true
  for (const next of pieces) {
    if (next.text === '') continue
    if (next.kind === 'break') trimEnd(out)
    const text: string = next.kind === 'text' ? spaced(next.text, atEdge) : next.text
    if (text === '') continue
    out.push({ ...next, text })
    atEdge = next.kind === 'break' || (next.kind === 'text' && text.endsWith(' '))
  }
  trimEnd(out)
  return mergedRuns(out).map(({ text, marks }) => ({ text: text.normalize('NFC'), marks }))
}

const spaced = (text: string, atEdge: boolean): string => {
  // Single spaces stay: a long text has hundreds of thousands of them.
  const even = text.replaceAll(/[ \t\n\f]{2,}|[\t\n\f]/g, ' ')
  return atEdge && even.startsWith(' ') ? even.slice(1) : even
}

/** Drops the single space that collapsing left at the end of a line. */
function trimEnd(out: InlinePiece[]): void {
  const last = out.at(-1)
  if (last?.kind !== 'text' || !last.text.endsWith(' ')) return
  out.pop()
  if (last.text !== ' ') out.push({ ...last, text: last.text.slice(0, -1) })
}
