import type { EditorState } from 'prosemirror-state'
import type { TextRange } from '../../../../domain/ports/index.ts'
import { spanAt } from './marked-comments.ts'

/** A caret in the text of a span. */
export interface Caret {
  readonly spanId: string
  readonly offset: number
}

/** The character beside a caret. `isAfter`: the caret is after it. */
export interface BesideCaret extends TextRange {
  readonly spanId: string
  readonly isAfter: boolean
}

/** The character beside the person's caret: the one before it, or the next one at the start of a block. Null: none. */
export function besideCaret({ selection: { $from, empty } }: EditorState): BesideCaret | null {
  const { parent, parentOffset } = $from
  if (!empty || !parent.isTextblock) return null
  const isAfter = parentOffset > 0
  const start = isAfter ? parentOffset - 1 : parentOffset
  const text = parent.textContent.slice(start, start + 1)
  // Half of a character beyond the first 65,536 has no anchor.
  return text === '' || /[\ud800-\udfff]/.test(text)
    ? null
    : { spanId: spanAt($from), start, end: start + 1, text, isAfter }
}
