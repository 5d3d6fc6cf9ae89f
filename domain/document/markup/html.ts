import { isElement, type Node } from './tree.ts'

/** Elements without an end tag in HTML. */
const VOID: ReadonlySet<string> = new Set(['br', 'hr'])
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * A tree as HTML that is also valid XML. Escapes all text and values. `text`: replaces the default escaping of text.
 */
export function htmlText(nodes: readonly Node[], text = htmlEscaped): string {
  return nodes.map((node) => (isElement(node) ? tag(node, text) : text(node))).join('')
}

function tag({ name, attributes, children }: Exclude<Node, string>, text: typeof htmlEscaped): string {
  const list = attributes.map(([key, value]) => ` ${key}="${attributeText(value)}"`).join('')
  return VOID.has(name) ? `<${name}${list}/>` : `<${name}${list}>${htmlText(children, text)}</${name}>`
}

export const htmlEscaped = (text: string): string => text.replaceAll(/[&<>"']/g, (c) => ESCAPES[c]!)

/** The characters as numeric references, which HTML and Markdown read as plain characters. */
export const numericReferences = (text: string): string => text.replaceAll(/./gs, (c) => `&#${c.codePointAt(0)};`)

/**
 * XML reads line feeds and tabs in a value as spaces, and `|` ends a cell of a Markdown table. Numeric references
 * prevent both.
 */
const attributeText = (value: string): string => htmlEscaped(value).replaceAll(/[\t\n\r|]/g, numericReferences)
