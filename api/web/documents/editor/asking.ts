import type { TextAnchor, TextRange } from '../../../../domain/ports/index.ts'
import type { SelectedText } from './marked-comments.ts'

/** What a person wants to say about a selected text. The anchor follows the text while the person writes. */
export interface Asking {
  readonly kind: 'comment' | 'suggestion'
  readonly selected: SelectedText
  readonly anchor: TextAnchor
}

interface Replica {
  anchor(spanId: string, range: TextRange): TextAnchor | null
  range(spanId: string, anchor: TextAnchor): TextRange | null
}

/** Begins to ask about a selected text. Null: the replica has another text there. */
export function askAbout(replica: Replica, kind: Asking['kind'], selected: SelectedText): Asking | null {
  const { span_id, quote, start } = selected
  const anchor = replica.anchor(span_id, { start, end: start + quote.length, text: quote })
  return anchor === null ? null : { kind, selected, anchor }
}

/** The present place of the text. Throws an error for the person if the text was deleted, or changed under a suggestion. */
export function presentText(replica: Replica, { kind, selected, anchor }: Asking): SelectedText {
  const { span_id, quote } = selected
  const range = replica.range(span_id, anchor)
  if (range === null || range.text === '')
    throw new Error('the text was deleted meanwhile; go back, and select another one')
  if (kind === 'suggestion' && range.text !== quote)
    throw new Error(`the text is now ${JSON.stringify(range.text)}; go back, and select it again`)
  return { span_id, quote: range.text, start: range.start }
}
