import type { Marks } from '../model/runs.ts'
import { type InlinePiece, piece } from './inline.ts'
import { MARK_OF, marksWithin } from './marks.ts'
import { type Element, isElement, type Node } from './tree.ts'

/** A sequence of inline content, or a block element with the marks of its inline ancestors. */
export type Flow = InlineFlow | BlockFlow
export interface InlineFlow {
  readonly pieces: readonly InlinePiece[]
}
export interface BlockFlow {
  readonly element: Element
  readonly marks: Marks
}

export const isBlock = (part: Flow): part is BlockFlow => 'element' in part

/** Splits content at its block elements, also at block elements inside inline elements. */
export function flow(nodes: readonly Node[], marks: Marks): readonly Flow[] {
  const parts: Flow[] = []
  let pieces: InlinePiece[] = []
  const walk = (children: readonly Node[], within: Marks): void => {
    for (const node of children) {
      if (!isElement(node)) pieces.push(piece(within.code ? 'verbatim' : 'text', node, within))
      else if (node.name === 'br') pieces.push(piece('break', '\n', within))
      else if (MARK_OF.has(node.name)) walk(node.children, marksWithin(node, within))
      else {
        parts.push({ pieces }, { element: node, marks: within })
        pieces = []
      }
    }
  }
  walk(nodes, marks)
  parts.push({ pieces })
  return parts
}
