import { GENESIS, hashAfter } from './seal.ts'

/** The rolling root of an append-only list: the number of items, and a hash of all items in order. */
export interface Root {
  readonly count: number
  readonly hash: string
}

export const EMPTY_ROOT: Root = { count: 0, hash: GENESIS }

/** Appends an item: `SHA-256(previous root, raw ‖ item)`. `items`: how many items it contains, if it is a root. */
export function appendRoot(root: Root, item: string, items = 1): Root {
  return { count: root.count + items, hash: hashAfter(root.hash, item) }
}

/** Appends to a rolling root. `countOnly` replaces it when no digest is needed. */
export type AppendRoot = (root: Root, item: string, items?: number) => Root
export const countOnly: AppendRoot = (root, _, items = 1) => ({ count: root.count + items, hash: root.hash })
