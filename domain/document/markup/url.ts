import { HOSTILE_SCHEMES, LINK_SCHEMES, URL_ATTRIBUTES, URL_LIST_ATTRIBUTES } from './rules.ts'

/** Whether an address has a scheme that causes the rejection of the whole payload. Ignores invisible characters. */
export function isHostileUrl(value: string): boolean {
  const visible = value.replaceAll(/[\p{C}\p{Z}]/gu, '').toLowerCase()
  return HOSTILE_SCHEMES.some((scheme) => visible.startsWith(`${scheme}:`))
}

/** The addresses in an attribute's value. */
export function urlsIn(attribute: string, value: string): readonly string[] {
  if (URL_ATTRIBUTES.has(attribute)) return [value]
  return URL_LIST_ATTRIBUTES.has(attribute) ? value.split(/[\s,;]+/) : []
}

/** The address of a link as a browser reads it. Null: the link is dropped. */
export function linkUrl(value: string): string | null {
  const url = value.replaceAll(/\p{Cc}/gu, '').trim()
  // The text before the first colon is a scheme, unless a path, query or fragment starts earlier.
  const scheme = /^([^/?#]*?):/.exec(url)?.[1]
  return url === '' || (scheme !== undefined && !LINK_SCHEMES.has(scheme.toLowerCase())) ? null : url
}
