import type { LoroDoc, LoroText } from 'loro-crdt'
import type { AuthoredPart } from '../../domain/ports/index.ts'

/**
 * Runs of characters that one operation inserted and no operation deleted. A text has the characters of a run in this
 * order. If the first and the last one are exactly as far apart as their counters, no other character is between them.
 * This saves a call to Loro for each character.
 */
export class InsertedRuns {
  /** Per peer: the counters of insertions, [from, to) in ascending order, and the first counters of deleted ranges. */
  readonly #peers = new Map<string, { readonly inserted: [from: number, to: number][]; readonly deleted: number[] }>()

  constructor(doc: LoroDoc) {
    for (const { id, ops } of doc.exportJsonUpdates(undefined, undefined, false).changes) {
      const peer = id.slice(id.indexOf('@') + 1)
      for (const { counter, content } of ops) {
        if (content.type === 'insert' && 'text' in content)
          this.#of(peer).inserted.push([counter, counter + lengthOf(content.text)])
        if (content.type !== 'delete' || !('start_id' in content)) continue
        // `start_id` is the smallest counter, also where a negative length says that the person deleted backwards.
        const [first, owner] = content.start_id.split('@') as [string, string]
        this.#of(owner).deleted.push(Number(first))
      }
    }
    for (const { inserted, deleted } of this.#peers.values()) {
      inserted.sort(([a], [b]) => a - b)
      deleted.sort((a, b) => a - b)
    }
  }

  /** The end (exclusive) of the run that contains a present character. Unknown: a run of this character only. */
  until(peer: string, counter: number): number {
    const { inserted, deleted } = this.#of(peer)
    const run = inserted[firstAbove(inserted.length, (n) => inserted[n]![0] > counter) - 1]
    if (run === undefined || run[1] <= counter) return counter + 1
    const gone = deleted[firstAbove(deleted.length, (n) => deleted[n]! > counter)]
    return gone === undefined ? run[1] : Math.min(run[1], gone)
  }

  #of(peer: string) {
    const known = this.#peers.get(peer) ?? { inserted: [], deleted: [] }
    this.#peers.set(peer, known)
    return known
  }
}

/** Binary search: the smallest number below `length` that meets a monotone condition, or `length`. */
function firstAbove(length: number, holds: (n: number) => boolean): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

const SURROGATES = /[\ud800-\udfff]/
const lengthOf = (text: string): number => (SURROGATES.test(text) ? [...text].length : text.length)

/** The operations that wrote each part of a text. Adjacent characters with consecutive counters form one part. */
export function authoredParts(text: LoroText, runs: InsertedRuns): readonly AuthoredPart[] {
  const chars = characters(text.toString())
  const idAt = (n: number) => {
    const cursor = text.getCursor(chars.offset(n), 0)
    const id = cursor?.pos()
    cursor?.free()
    return id
  }
  const parts: { text: string; peer: string; counter: number; chars: number }[] = []
  for (let at = 0; at < chars.count; ) {
    const id = idAt(at)
    if (id === undefined) {
      at += 1
      continue
    }
    const { peer, counter } = id
    const most = Math.min(chars.count - at, runs.until(peer, counter) - counter)
    const isIn = (n: number) => {
      const other = idAt(at + n)
      return other?.peer === peer && other.counter === counter + n
    }
    const length = most <= 1 || isIn(most - 1) ? Math.max(1, most) : firstAbove(most, (n) => n > 0 && !isIn(n))
    const last = parts.at(-1)
    const part = chars.slice(at, at + length)
    if (last !== undefined && last.peer === peer && last.counter + last.chars === counter) {
      last.text += part
      last.chars += length
    } else parts.push({ text: part, peer, counter, chars: length })
    at += length
  }
  return parts
}

/** A text by code points, of which each is one operation. Cursors count UTF-16 units. */
function characters(text: string) {
  if (!SURROGATES.test(text)) {
    return { count: text.length, offset: (n: number) => n, slice: (from: number, to: number) => text.slice(from, to) }
  }
  const offsets: number[] = []
  let at = 0
  for (const char of text) {
    offsets.push(at)
    at += char.length
  }
  const offset = (n: number) => offsets[n] ?? text.length
  return { count: offsets.length, offset, slice: (from: number, to: number) => text.slice(offset(from), offset(to)) }
}
