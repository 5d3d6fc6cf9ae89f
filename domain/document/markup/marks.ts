import type { Link, Mark, Marks } from '../model/runs.ts'
import { lineFeeds } from '../model/text.ts'
import { attributeOf, type Element } from './tree.ts'

/** Inline elements and their marks; `span` has no mark. */
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

/** The marks of an inline element's content. An inner link replaces the outer link. */
export function marksWithin(element: Element, marks: Marks): Marks {
  const mark = MARK_OF.get(element.name)
  if (mark === undefined || mark === null) return marks
  if (mark !== 'link') return { ...marks, [mark]: true }
  const link = linkOf(element)
  return link === null ? marks : { ...marks, link }
}

function linkOf(element: Element): Link | null {
  const href = attributeOf(element, 'href')
  if (href === undefined) return null
  const more = (['rel', 'target', 'title'] as const).map((name) => {
    // An HTML parser reads CRLF as LF, so a title with CR would not survive being written and read again.
    const value = attributeOf(element, name)
    return [name, value && lineFeeds(value)] as const
  })
  return { href, ...Object.fromEntries(more.filter(([, value]) => value !== undefined)) }
}
