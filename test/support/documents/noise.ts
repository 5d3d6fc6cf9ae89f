import { renderBlocks } from '../../../domain/document/markup/render.ts'
import { type Attribute, element, isElement, type Node } from '../../../domain/document/markup/tree.ts'
import type { BlockContent } from '../../../domain/document/model/block.ts'

/** Chooses a number below `n`. */
export type Choose = (n: number) => number

/** A choice from a repeated list of numbers. */
export function chooser(numbers: readonly number[]): Choose {
  let at = 0
  return (n) => numbers[at++ % numbers.length]! % n
}

/** A tree with the same meaning as these blocks, written differently. */
export const noisy = (blocks: readonly BlockContent[], choose: Choose): Node[] =>
  many(renderBlocks(blocks), choose, TOP)

interface Place {
  /** White space is significant. */
  readonly verbatim: boolean
  /** Inline elements are allowed here. */
  readonly inline: boolean
}
const TOP: Place = { verbatim: false, inline: false }
const SYNONYM: Readonly<Record<string, string>> = { b: 'strong', i: 'em', strong: 'b', em: 'i' }
const MARKS = ['b', 'i', 'u', 's', 'a', 'strong', 'em']
const CONTAINERS = ['ul', 'ol', 'table', 'tbody', 'tr']

function many(nodes: readonly Node[], choose: Choose, place: Place): Node[] {
  const out: Node[] = []
  for (const node of nodes) {
    out.push(...gap(choose, place))
    out.push(...(isElement(node) ? tag(node, choose, place) : words(node, choose, place)))
  }
  out.push(...gap(choose, place))
  return out
}

/** Meaningless text between two nodes. */
function gap(choose: Choose, place: Place): Node[] {
  if (place.inline) return choose(4) === 0 ? [element(['b', 'span', 'u'][choose(3)]!, [])] : []
  return choose(3) === 0 ? [' \n\t'] : []
}

/** A text split into pieces, decomposed, with more white space. */
function words(text: string, choose: Choose, { verbatim }: Place): Node[] {
  const controls = choose(4) === 0 ? `\u0086${text}` : text
  const form = choose(3) === 0 ? controls.normalize('NFD') : controls
  const wide = verbatim || choose(2) === 0 ? form : form.replaceAll(' ', ' \n ')
  const cut = [...wide]
  const at = choose(cut.length + 1)
  const [head, tail] = [cut.slice(0, at).join(''), cut.slice(at).join('')]
  return choose(2) === 0 ? [head, tail] : [head, element('span', [tail])]
}

function tag(node: Exclude<Node, string>, choose: Choose, place: Place): Node[] {
  const name = choose(2) === 0 ? (SYNONYM[node.name] ?? node.name) : node.name
  const attributes: readonly Attribute[] = choose(2) === 0 ? node.attributes.toReversed() : node.attributes
  if (node.name === 'pre' || node.name === 'br' || node.name === 'hr') return [node]
  const inside: Place = {
    verbatim: place.verbatim || node.name === 'code',
    inline: !CONTAINERS.includes(node.name),
  }
  if (node.name === 'ul' || node.name === 'ol') return lists(node, choose)
  if (node.name === 'tbody' && choose(2) === 0) return many(node.children, choose, TOP)
  const swapped = swap(node, choose)
  if (swapped !== null) return tag(swapped, choose, place)
  const children = many(node.children, choose, inside)
  // Adjacent equal elements mean one element.
  if (MARKS.includes(node.name) && choose(3) === 0) {
    const at = choose(children.length + 1)
    return [element(name, children.slice(0, at), attributes), element(name, children.slice(at), attributes)]
  }
  const wraps = ['li', 'td', 'th', 'blockquote'].includes(node.name) && node.children.length > 0
  return [element(name, wraps && choose(3) === 0 ? [element('p', children)] : children, attributes)]
}

/** Swaps two nested marks. Never swaps code, because its text keeps white space. */
function swap(outer: Exclude<Node, string>, choose: Choose): Exclude<Node, string> | null {
  const [inner] = outer.children
  const isPair = MARKS.includes(outer.name) && outer.children.length === 1 && inner !== undefined && isElement(inner)
  if (!isPair || !MARKS.includes(inner.name) || choose(4) !== 0) return null
  return { ...inner, children: [{ ...outer, children: inner.children }] }
}

/** A list, in one piece or split. */
function lists(node: Exclude<Node, string>, choose: Choose): Node[] {
  const at = choose(2) === 0 ? choose(node.children.length + 1) : 0
  return [node.children.slice(0, at), node.children.slice(at)]
    .filter((part) => part.length > 0)
    .map((part) => element(node.name, many(part, choose, TOP)))
}
