import type { EditorState } from 'prosemirror-state'
import type { TextRange } from '../../../../domain/ports/index.ts'
import { spanAt } from './marked-comments.ts'

/** A caret in the text of a span. */
export interface Caret {
  readonly spanId: string
  readonly offset: number
}

/** The character next to a caret. `isAfter`: the caret follows the character. */
export interface CharacterAtCaret extends TextRange {
  readonly spanId: string
  readonly isAfter: boolean
}

/** Returns the character before the person's caret, or after it at the start of a block. Null: there is none. */
export function characterAtCaret({ selection: { $from, empty } }: EditorState): CharacterAtCaret | null {
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
