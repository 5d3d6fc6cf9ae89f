import { joinSpans, type Span } from './spans.ts'

/** Searches for many fixed texts at once. */
export interface KnownTexts {
  /**
   * The spans of all matches; overlapping matches form one span. Time is linear in the text, for any number of known
   * texts. Over `most` matches: one span of the whole text.
   */
  find(text: string, most?: number): Span[]
  /** The length of the longest end of the text that may begin a known text. */
  pending(text: string): number
  /**
   * The length of the longest suffix of the text that is a proper prefix of a known text and satisfies `enough`.
   * `whole`: the length of the shortest known text with this prefix. 0: none.
   */
  begun(text: string, enough: (length: number, whole: number) => boolean): number
}

interface Node {
  readonly next: Map<number, number>
  readonly depth: number
  fail: number
  /** Length of the longest text that ends here; 0: none. */
  length: number
  /** Length of the shortest text that continues after this node. */
  whole: number
}

const nodeAt = (depth: number): Node => ({
  next: new Map(),
  depth,
  fail: 0,
  length: 0,
  whole: Number.POSITIVE_INFINITY,
})

/** Up to this many texts, searching for each alone is faster than the automaton on a text without matches. */
const FEW = 64

/** Aho–Corasick over UTF-16 units, built on first use. */
export function knownTexts(texts: readonly string[]): KnownTexts {
  let made: Automaton | null = null
  const automaton = (): Automaton => {
    made ??= new Automaton(texts)
    return made
  }
  const none = (text: string) => texts.length <= FEW && !texts.some((one) => text.includes(one))
  return {
    find: (text, most = Number.POSITIVE_INFINITY) => (none(text) ? [] : joinSpans(automaton().matches(text, most))),
    pending: (text) => automaton().pending(text),
    begun: (text, enough) => automaton().begun(text, enough),
  }
}

class Automaton {
  readonly #nodes: Node[] = [nodeAt(0)]
  readonly #longest: number
  /** Most characters begin no known text. This table, indexed by the low 8 bits of a character, skips them quickly. */
  readonly #begins = new Uint8Array(256)

  constructor(texts: readonly string[]) {
    for (const text of texts) insert(this.#nodes, text)
    this.#longest = texts.reduce((most, { length }) => Math.max(most, length), 0)
    linkFailures(this.#nodes)
    for (const unit of this.#nodes[0]?.next.keys() ?? []) this.#begins[unit & 255] = 1
  }

  /** Over `most` matches: one span of the whole text. */
  matches(text: string, most: number): Span[] {
    const found: Span[] = []
    let state = 0
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (state === 0 && this.#begins[unit & 255] === 0) continue
      state = this.#step(state, unit)
      const { length } = this.#nodes[state] as Node
      if (length === 0) continue
      if (found.length === most) return [{ start: 0, end: text.length }]
      found.push({ start: i + 1 - length, end: i + 1 })
    }
    return found
  }

  pending(text: string): number {
    return (this.#nodes[this.#stateAfter(text)] as Node).depth
  }

  begun(text: string, enough: (length: number, whole: number) => boolean): number {
    for (let state = this.#stateAfter(text); state !== 0; ) {
      const { next, depth, whole, fail } = this.#nodes[state] as Node
      if (next.size > 0 && enough(depth, whole)) return depth
      state = fail
    }
    return 0
  }

  /** Reads only as many last characters as the longest known text has. */
  #stateAfter(text: string): number {
    let state = 0
    for (let i = Math.max(0, text.length - this.#longest); i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (state !== 0 || this.#begins[unit & 255] === 1) state = this.#step(state, unit)
    }
    return state
  }

  #step(state: number, unit: number): number {
    let at = state
    for (;;) {
      const node = this.#nodes[at] as Node
      const next = node.next.get(unit)
      if (next !== undefined) return next
      if (at === 0) return 0
      at = node.fail
    }
  }
}

function insert(nodes: Node[], text: string): void {
  let at = 0
  for (let i = 0; i < text.length; i++) {
    const node = nodes[at] as Node
    const unit = text.charCodeAt(i)
    let next = node.next.get(unit)
    if (next === undefined) {
      next = nodes.push(nodeAt(node.depth + 1)) - 1
      node.next.set(unit, next)
    }
    at = next
    const child = nodes[at] as Node
    if (i + 1 < text.length) child.whole = Math.min(child.whole, text.length)
  }
  const end = nodes[at] as Node
  end.length = end.depth
}

function linkFailures(nodes: Node[]): void {
  const queue = [0]
  for (let head = 0; head < queue.length; head++) {
    const node = nodes[queue[head] as number] as Node
    for (const [unit, child] of node.next) {
      queue.push(child)
      const target = nodes[child] as Node
      let fail = node.fail
      while (fail !== 0 && !nodes[fail]?.next.has(unit)) fail = nodes[fail]?.fail ?? 0
      const found = nodes[fail]?.next.get(unit)
      target.fail = found === undefined || found === child ? 0 : found
      if (target.length === 0) target.length = nodes[target.fail]?.length ?? 0
    }
  }
}
