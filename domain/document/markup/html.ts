import { isElement, type Node } from './tree.ts'

/** Elements that HTML writes without an end tag. */
const VOID: ReadonlySet<string> = new Set(['br', 'hr'])
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A tree as HTML that is also XML. Every text and value is escaped. */
export function htmlText(nodes: readonly Node[]): string {
  return nodes.map((node) => (isElement(node) ? tag(node) : escaped(node))).join('')
}

function tag({ name, attributes, children }: Exclude<Node, string>): string {
  const list = attributes.map(([key, value]) => ` ${key}="${attributeText(value)}"`).join('')
  return VOID.has(name) ? `<${name}${list}/>` : `<${name}${list}>${htmlText(children)}</${name}>`
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (c) => ESCAPES[c]!)

/** XML reads line feeds and tabs in a value as spaces, unless they are references. */
const attributeText = (value: string): string => escaped(value).replaceAll(/[\t\n\r]/g, (c) => `&#${c.charCodeAt(0)};`)
