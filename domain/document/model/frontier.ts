// Frontier text: `peer:counter` items, sorted by peer as unsigned 64-bit numbers, joined by `|`.

/** The last operation of one peer in a version. */
export interface FrontierItem {
  /** Unsigned 64-bit. */
  readonly peer: bigint
  /** From 0. */
  readonly counter: number
}

/** A version of a document. The empty list is the empty document. */
export type Frontier = readonly FrontierItem[]

const ITEM = /^(0|[1-9]\d{0,19}):(0|[1-9]\d{0,9})$/
const MAX_PEER = 2n ** 64n - 1n
const MAX_COUNTER = 2 ** 31 - 1

/** Parses a frontier with items in any order. Null: the text is not a frontier or repeats a peer. */
export function parseFrontier(text: string): Frontier | null {
  if (text === '') return []
  const items: FrontierItem[] = []
  const peers = new Set<bigint>()
  for (const part of text.split('|')) {
    const match = ITEM.exec(part)
    if (match === null) return null
    const item = { peer: BigInt(match[1]!), counter: Number(match[2]) }
    if (item.peer > MAX_PEER || item.counter > MAX_COUNTER || peers.has(item.peer)) return null
    peers.add(item.peer)
    items.push(item)
  }
  return sorted(items)
}

/** The canonical text of a frontier. */
export const frontierText = (frontier: Frontier): string =>
  sorted(frontier)
    .map(({ peer, counter }) => `${peer}:${counter}`)
    .join('|')

const sorted = (frontier: Frontier): Frontier =>
  [...frontier].sort((a, b) => (a.peer < b.peer ? -1 : a.peer > b.peer ? 1 : 0))

/**
 * The relation of a client's frontier to the document's. `behind`: the document contains all client operations.
 * `ahead`: the client has seen the whole document and more. `diverged`: each has operations that the other lacks.
 * `unknown`: the document has no operation of one of the client's peers.
 */
export type FrontierRelation = 'equal' | 'behind' | 'ahead' | 'diverged' | 'unknown'

/**
 * Compares frontiers without access to the client's operations.
 *
 * @param known the number of a peer's operations in the document
 */
export function relationOf(client: Frontier, document: Frontier, known: (peer: bigint) => number): FrontierRelation {
  if (frontierText(client) === frontierText(document)) return 'equal'
  if (client.every(({ peer, counter }) => counter < known(peer))) return 'behind'
  const seen = new Map(client.map(({ peer, counter }) => [peer, counter]))
  if (document.every(({ peer, counter }) => (seen.get(peer) ?? -1) >= counter)) return 'ahead'
  return client.some(({ peer }) => known(peer) === 0) ? 'unknown' : 'diverged'
}
