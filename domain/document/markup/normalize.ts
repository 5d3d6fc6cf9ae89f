import type { Marks } from '../model/runs.ts'
import {
  type Canonical,
  type CanonicalNode,
  type CanonicalSpan,
  misplaced,
  type TextHead,
  textBlock,
} from './canonical.ts'
import { codeLanguage, codeRuns, preRuns } from './code.ts'
import { type BlockFlow, flow, isBlock } from './flow.ts'
import { collapsed } from './inline.ts'
import { leaf } from './leaf.ts'
import { normalizeList } from './normalize-list.ts'
import { normalizeTable } from './normalize-table.ts'
import type { Node } from './tree.ts'

/**
 * The canonical form of blocks. Inline content between blocks becomes a paragraph. Element names must be in lower case.
 */
export function normalizeBlocks(nodes: readonly Node[], marks: Marks = {}): Canonical {
  return flow(nodes, marks).flatMap((part) =>
    isBlock(part) ? block(part) : textBlock(PARAGRAPH, collapsed(part.pieces)),
  )
}

/** The canonical content of a span. `verbatim`: the span is in a code block. */
export function normalizeSpan(nodes: readonly Node[], verbatim: boolean): CanonicalSpan {
  const parts = flow(nodes, {})
  const inner = parts.find(isBlock)
  if (inner !== undefined) return { runs: [], misplaced: misplaced(inner.element.name, 'a replacement') }
  const runs = verbatim ? codeRuns(nodes) : parts.flatMap((part) => (isBlock(part) ? [] : collapsed(part.pieces)))
  return { runs, misplaced: null }
}

const PARAGRAPH: TextHead = { type: 'paragraph', attrs: {} }

function block(part: BlockFlow): Canonical {
  const { element } = part
  const heading = /^h([1-6])$/.exec(element.name)
  if (heading !== null) return leaf({ type: 'heading', attrs: { level: Number(heading[1]) } }, part)
  switch (element.name) {
    case 'p':
      return leaf(PARAGRAPH, part)
    case 'blockquote':
      return quote(part)
    case 'pre':
      return textBlock({ type: 'code', attrs: { language: codeLanguage(element) } }, preRuns(element))
    case 'ul':
    case 'ol':
      return normalizeList(part, 0)
    case 'table':
      return normalizeTable(part)
    case 'hr':
      return [{ type: 'divider', attrs: {} }]
    default:
      return [misplaced(element.name, 'the top level')]
  }
}

/** A quote with several paragraphs becomes several quotes. */
function quote({ element, marks }: BlockFlow): Canonical {
  const head: TextHead = { type: 'quote', attrs: {} }
  return flow(element.children, marks).flatMap((part): readonly CanonicalNode[] => {
    if (!isBlock(part)) return textBlock(head, collapsed(part.pieces))
    return part.element.name === 'p' ? leaf(head, part) : [misplaced(part.element.name, 'blockquote')]
  })
}
