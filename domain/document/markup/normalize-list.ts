import { type Canonical, type CanonicalNode, misplaced, type TextHead, textBlock } from './canonical.ts'
import { type BlockFlow, flow, isBlock } from './flow.ts'
import { collapsed } from './inline.ts'
import { leaf } from './leaf.ts'

/** The items of a list and of its nested lists, with their indents. */
export const normalizeList = ({ element, marks }: BlockFlow, indent: number): Canonical =>
  flow(element.children, marks).flatMap((part): readonly CanonicalNode[] => {
    if (!isBlock(part)) return collapsed(part.pieces).length === 0 ? [] : [misplaced('text', element.name)]
    const { name } = part.element
    if (name === 'li') return item(part, element.name === 'ol', indent)
    return isList(name) ? normalizeList(part, indent + 1) : [misplaced(name, element.name)]
  })

/** An item has one text, plain or as a paragraph, followed by lists. */
function item({ element, marks }: BlockFlow, ordered: boolean, indent: number): Canonical {
  const head: TextHead = { type: 'list_item', attrs: { ordered, indent } }
  const out: CanonicalNode[] = []
  for (const part of flow(element.children, marks)) {
    if (isBlock(part) && isList(part.element.name)) out.push(...normalizeList(part, indent + 1))
    else if (isBlock(part) && part.element.name !== 'p') out.push(misplaced(part.element.name, 'li'))
    else {
      const text = isBlock(part) ? leaf(head, part) : textBlock(head, collapsed(part.pieces))
      out.push(...(out.length === 0 || text.length === 0 ? text : [misplaced(isBlock(part) ? 'p' : 'text', 'li')]))
    }
  }
  return out
}

const isList = (name: string): boolean => name === 'ul' || name === 'ol'
