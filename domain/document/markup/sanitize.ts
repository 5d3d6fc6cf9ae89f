import type { Diagnostics } from './diagnostics.ts'
import { type MarkupRules, REQUEST_RULES } from './rules.ts'
import { type Attribute, isElement, type Node } from './tree.ts'
import { linkUrl } from './url.ts'

/**
 * Removes all elements and attributes that the rules do not allow. Element and attribute names become lower case. Call
 * `hostileReason` before.
 */
export const sanitize = (nodes: readonly Node[], found: Diagnostics, rules = REQUEST_RULES): readonly Node[] =>
  nodes.flatMap((node) => cleaned(node, found, rules))

/** Whether content is empty: no text, no line break and no table cell. */
export const isBlank = (nodes: readonly Node[]): boolean =>
  nodes.every((node) => isBlankText(node) || (isElement(node) && !SPEAKS.has(node.name) && isBlank(node.children)))

const SPEAKS: ReadonlySet<string> = new Set(['br', 'td', 'th'])
const isBlankText = (node: Node) => !isElement(node) && node.trim() === ''

function cleaned(node: Node, found: Diagnostics, rules: MarkupRules): readonly Node[] {
  if (!isElement(node)) return [node]
  const name = node.name.toLowerCase()
  const children = node.children.flatMap((child) => cleaned(child, found, rules))
  if (!rules.tags.has(name)) {
    found.add({ code: 'tag_removed', element: name })
    return children
  }
  const attributes = node.attributes.flatMap((attribute) => cleanedAttribute(name, attribute, found, rules))
  const isLink = name !== 'a' || attributes.some(([own]) => own === 'href')
  return isLink ? [{ name, attributes, children }] : children
}

function cleanedAttribute(
  tag: string,
  [written, value]: Attribute,
  found: Diagnostics,
  rules: MarkupRules,
): readonly Attribute[] {
  const name = written.toLowerCase()
  const rule = rules.attributes.get(name)
  if (rule === undefined || !rule.tags.has(tag) || !rule.value.test(value)) {
    found.add({ code: 'attribute_removed', element: tag, attribute: name })
    return []
  }
  if (name !== 'href') return [[name, value]]
  const url = linkUrl(value)
  if (url === null) found.add({ code: 'link_dropped', element: tag, attribute: name })
  return url === null ? [] : [[name, url]]
}
