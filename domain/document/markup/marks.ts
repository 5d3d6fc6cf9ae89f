import type { Link, Mark, Marks } from '../model/runs.ts'
import type { Element } from './tree.ts'

/** Inline elements and what they mean; a span means nothing. */
export const MARK_OF: ReadonlyMap<string, Mark | null> = new Map<string, Mark | null>([
  ['b', 'bold'],
  ['strong', 'bold'],
  ['i', 'italic'],
  ['em', 'italic'],
  ['u', 'underline'],
  ['s', 'strike'],
  ['code', 'code'],
  ['a', 'link'],
  ['span', null],
])

/** The marks of what stands in an inline element. An inner link replaces the outer one. */
export function marksWithin(element: Element, marks: Marks): Marks {
  const mark = MARK_OF.get(element.name)
  if (mark === undefined || mark === null) return marks
  if (mark !== 'link') return { ...marks, [mark]: true }
  const link = Object.fromEntries(element.attributes)
  return link.href === undefined ? marks : { ...marks, link: link as Link }
}
