import { HOSTILE_TAGS } from './rules.ts'
import { type Element, isElement } from './tree.ts'
import { isHostileUrl, urlsIn } from './url.ts'

/** Why a tree causes the rejection of the whole payload, or null. */
export function hostileReason(tree: Element): string | null {
  const name = localName(tree.name)
  if (HOSTILE_TAGS.has(name)) return `the element <${name}> is not accepted; send the request without it`
  for (const [attribute, value] of tree.attributes) {
    if (urlsIn(localName(attribute), value).some(isHostileUrl))
      return `the attribute ${localName(attribute)} has a data: or vbscript: address; send the request without it`
  }
  for (const child of tree.children) {
    const reason = isElement(child) ? hostileReason(child) : null
    if (reason !== null) return reason
  }
  return null
}

/** The name without its namespace prefix, in lower case. A prefix must not hide a hostile name. */
export const localName = (name: string): string => name.slice(name.lastIndexOf(':') + 1).toLowerCase()
