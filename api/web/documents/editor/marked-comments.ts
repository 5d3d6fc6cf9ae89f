import type { Node, ResolvedPos } from 'prosemirror-model'
import { type EditorState, Plugin, PluginKey, type Transaction } from 'prosemirror-state'
import { Decoration, DecorationSet } from 'prosemirror-view'
import { cellId, parseCellId } from '../../../../domain/document/model/span-id.ts'

/** A comment or suggestion on a range of a span's text, in UTF-16 units. */
export interface MarkedComment {
  readonly id: string
  readonly kind: 'comment' | 'suggestion'
  readonly spanId: string
  readonly start: number
  readonly end: number
  readonly isChosen: boolean
}

/** A selected text, as a comment names it. */
export interface SelectedText {
  readonly span_id: string
  readonly quote: string
  readonly start: number
}

const key = new PluginKey<DecorationSet>('comments')

export const showComments = (tr: Transaction, comments: readonly MarkedComment[]): Transaction =>
  tr.setMeta(key, comments).setMeta('addToHistory', false)

/** Marks the texts of comments. A click on a marked text chooses its comment. */
export const commentsPlugin = (choose: (id: string) => void): Plugin =>
  new Plugin<DecorationSet>({
    key,
    state: {
      init: () => DecorationSet.empty,
      apply(tr, marked) {
        const comments = tr.getMeta(key) as readonly MarkedComment[] | undefined
        return comments === undefined
          ? marked.map(tr.mapping, tr.doc)
          : DecorationSet.create(tr.doc, decorations(tr.doc, comments))
      },
    },
    props: {
      decorations: (state) => key.getState(state),
      handleClick(view, position) {
        const [found] = key.getState(view.state)?.find(position, position) ?? []
        if (found !== undefined) choose(found.spec.id)
        return false
      },
    },
  })

function decorations(doc: Node, comments: readonly MarkedComment[]): Decoration[] {
  const blocks: ReadonlyMap<string, number> = comments.length > 0 ? blockPositions(doc) : new Map()
  return comments.flatMap(({ id, kind, spanId, start, end, isChosen }) => {
    const text = startOfSpan(doc, blocks, spanId)
    if (text === null) return []
    const size = doc.resolve(text).parent.content.size
    const [from, to] = [text + Math.min(start, size), text + Math.min(end, size)]
    return from === to
      ? []
      : [Decoration.inline(from, to, { class: `marked on-${kind}${isChosen ? ' chosen' : ''}` }, { id })]
  })
}

/** The position of the first character of a span. Null: the document has no such span. */
export function startOfSpan(doc: Node, blocks: ReadonlyMap<string, number>, spanId: string): number | null {
  const own = blocks.get(spanId)
  if (own !== undefined) return doc.nodeAt(own)!.isTextblock ? own + 1 : null
  const cell = parseCellId(spanId)
  const table = cell === null ? undefined : blocks.get(cell.blockId)
  if (cell === null || table === undefined) return null
  const row = doc.nodeAt(table)!.maybeChild(cell.row)
  if (!row?.maybeChild(cell.column)) return null
  let at = table + 1
  for (let n = 0; n < cell.row; n++) at += doc.nodeAt(table)!.child(n).nodeSize
  at += 1
  for (let n = 0; n < cell.column; n++) at += row.child(n).nodeSize
  return at + 1
}

/** The selected text. Null: nothing, or text of several spans, is selected. */
export function selectedText({ selection: { $from, $to, empty } }: EditorState): SelectedText | null {
  const { parent } = $from
  if (empty || parent !== $to.parent || !parent.isTextblock) return null
  const quote = parent.textContent.slice($from.parentOffset, $to.parentOffset)
  return { span_id: spanAt($from), quote, start: $from.parentOffset }
}

/** The id of the span at a position in a text block. */
export function spanAt($at: ResolvedPos): string {
  const block = String($at.node(1).attrs.id)
  if ($at.parent.type.name !== 'cell') return block
  return cellId({ blockId: block, row: $at.index(1), column: $at.index(2) })
}

/** The positions of the blocks of a document by their ids. */
export function blockPositions(doc: Node): ReadonlyMap<string, number> {
  const blocks = new Map<string, number>()
  doc.forEach((block, at) => void blocks.set(String(block.attrs.id), at))
  return blocks
}
