import { Marked } from 'marked'
import { type DefaultTreeAdapterMap, parseFragment } from 'parse5'
import type { Element, Node } from '../../../domain/document/markup/tree.ts'

// Runs in a separate thread; see parse-markup.ts.

export interface MarkupWork {
  readonly format: 'html' | 'markdown'
  readonly text: string
  readonly limits: { readonly depth: number; readonly nodes: number }
}

export type MarkupFound =
  | { readonly kind: 'tree'; readonly children: readonly Node[] }
  | { readonly kind: 'limits'; readonly message: string }

class BeyondLimit extends Error {}

/**
 * GitHub's Markdown. Deleted text becomes struck-out text. An image becomes its description, because documents have no
 * images.
 */
const markdown = new Marked({
  gfm: true,
  renderer: {
    del({ tokens }) {
      return `<s>${this.parser.parseInline(tokens)}</s>`
    },
    image({ text }) {
      return escaped(text)
    },
    // Omits the line feed that Markdown adds at the end of code.
    code({ text, lang = '' }) {
      const language = /^[\w+#.-]{1,64}/.exec(lang)?.[0]
      const body = text.startsWith('\n') ? `\n${text}` : text
      return `<pre><code${language === undefined ? '' : ` class="language-${language}"`}>${escaped(body)}</code></pre>`
    },
    checkbox({ checked }) {
      return checked ? '[x] ' : '[ ] '
    },
  },
})

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Parses like a browser: no HTML is malformed; misplaced elements are moved or dropped. */
export function toTree({ format, text, limits }: MarkupWork): MarkupFound {
  const html = format === 'html' ? text : markdown.parse(text, { async: false })
  let nodes = 0
  const node = (given: DefaultTreeAdapterMap['node'], depth: number): readonly Node[] => {
    if (given.nodeName === '#text') {
      const { value } = given as DefaultTreeAdapterMap['textNode']
      if (value.trim() !== '') count()
      return [value.replaceAll('\0', '')]
    }
    if (!('tagName' in given)) return []
    if (depth > limits.depth) throw new BeyondLimit(`is deeper than ${limits.depth} elements`)
    count()
    const { tagName, attrs, childNodes } = given
    const children = childNodes.flatMap((child) => node(child, depth + 1))
    const attributes = attrs.map(({ name, prefix, value }) => [prefix ? `${prefix}:${name}` : name, value] as const)
    return [{ name: tagName, attributes, children } satisfies Element]
  }
  const count = () => {
    nodes += 1
    if (nodes > limits.nodes) throw new BeyondLimit(`has more than ${limits.nodes} elements and texts`)
  }
  try {
    return { kind: 'tree', children: parseFragment(html).childNodes.flatMap((child) => node(child, 1)) }
  } catch (error) {
    // The parser recursed until the stack overflowed, so the text is nested too deep.
    if (error instanceof RangeError) return { kind: 'limits', message: `is deeper than ${limits.depth} elements` }
    if (error instanceof BeyondLimit) return { kind: 'limits', message: error.message }
    throw error
  }
}
