import { type Canonical, type CanonicalNode, misplaced, type TextHead, textBlock } from './canonical.ts'
import { type BlockFlow, flow, isBlock } from './flow.ts'
import { collapsed } from './inline.ts'

/** A block that contains only inline content. */
export const leaf = (head: TextHead, { element, marks }: BlockFlow): Canonical =>
  flow(element.children, marks).flatMap((part): readonly CanonicalNode[] =>
    isBlock(part) ? [misplaced(part.element.name, element.name)] : textBlock(head, collapsed(part.pieces)),
  )
