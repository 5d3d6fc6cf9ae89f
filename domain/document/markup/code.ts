import type { TextRun } from '../model/runs.ts'
import { lineFeeds } from '../model/text.ts'
import { collapsed, piece } from './inline.ts'
import { attributeOf, type Element, isElement, type Node } from './tree.ts'

/** The text of a code block: white space unchanged, no marks. */
export const codeRuns = (nodes: readonly Node[]): TextRun[] => collapsed([piece('verbatim', plain(nodes), {})])

/** The text of a `pre` element. HTML ignores a line feed directly after the tag. */
export const preRuns = (pre: Element): TextRun[] => codeRuns([lineFeeds(plain(pre.children)).replace(/^\n/, '')])

/** Language names that HTML and Markdown can represent. A person's replica can contain any text. */
const LANGUAGE = /^[\w+#.-]{1,64}$/

/** The language for output. Null: the name could contain markup. */
export const shownLanguage = (language: string | null): string | null =>
  language !== null && LANGUAGE.test(language) ? language : null

/** The language of a code block, from its HTML class. The sanitizer removes this class from requests. */
export function codeLanguage({ children: [code] }: Element): string | null {
  const name = code !== undefined && isElement(code) ? attributeOf(code, 'class') : undefined
  return /^language-(.+)$/s.exec(name ?? '')?.[1] ?? null
}

const plain = (nodes: readonly Node[]): string =>
  nodes.map((node) => (isElement(node) ? (node.name === 'br' ? '\n' : plain(node.children)) : node)).join('')
