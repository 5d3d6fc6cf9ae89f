import type { Run } from '../model/runs.ts'
import { lineFeeds } from '../model/text.ts'
import { collapsed, piece } from './inline.ts'
import { attributeOf, type Element, isElement, type Node } from './tree.ts'

/** The text of a code block: white space as it is, no marks. */
export const codeRuns = (nodes: readonly Node[]): Run[] => collapsed([piece('verbatim', plain(nodes), {})])

/** What a `pre` element holds: HTML drops a line feed right behind the tag. */
export const preRuns = (pre: Element): Run[] => codeRuns([lineFeeds(plain(pre.children)).replace(/^\n/, '')])

/** The language of a code block as HTML names it; the sanitizer removes it from requests. */
export function codeLanguage({ children: [code] }: Element): string | null {
  const name = code !== undefined && isElement(code) ? attributeOf(code, 'class') : undefined
  return /^language-(.+)$/s.exec(name ?? '')?.[1] ?? null
}

const plain = (nodes: readonly Node[]): string =>
  nodes.map((node) => (isElement(node) ? (node.name === 'br' ? '\n' : plain(node.children)) : node)).join('')
