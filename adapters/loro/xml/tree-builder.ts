import type { Attribute, Element, Node } from '../../../domain/document/markup/tree.ts'

/** A text beyond a limit. */
export class BeyondLimit extends Error {}

interface OpenElement {
  readonly name: string
  readonly attributes: Attribute[]
  readonly children: Node[]
}

/** Builds a tree from a parser's events and limits its depth and number of nodes. */
export class TreeBuilder {
  readonly #limits: { readonly depth: number; readonly nodes: number }
  readonly #open: OpenElement[] = [{ name: '', attributes: [], children: [] }]
  #nodes = 0

  constructor(limits: { readonly depth: number; readonly nodes: number }) {
    this.#limits = limits
  }

  open(name: string): void {
    if (this.#open.length > this.#limits.depth) throw new BeyondLimit(`is deeper than ${this.#limits.depth} elements`)
    this.#count()
    const element: OpenElement = { name, attributes: [], children: [] }
    this.#open.at(-1)!.children.push(element)
    this.#open.push(element)
  }

  attribute(name: string, value: string): void {
    this.#open.at(-1)!.attributes.push([name, value])
  }

  text(text: string): void {
    if (text.trim() !== '') this.#count()
    this.#open.at(-1)!.children.push(text)
  }

  close(): void {
    this.#open.pop()
  }

  /** The root element. Call only after the parser has accepted the text. */
  root(): Element {
    return this.#open[0]!.children.find((node): node is Element => typeof node !== 'string')!
  }

  #count(): void {
    this.#nodes += 1
    if (this.#nodes > this.#limits.nodes)
      throw new BeyondLimit(`has more than ${this.#limits.nodes} elements and texts`)
  }
}
