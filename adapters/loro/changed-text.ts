import type { ContainerID, Delta, Diff, JsonChange, LoroDoc, LoroText } from 'loro-crdt'
import { MAX_CONTAINER_DEPTH } from './depth.ts'
import { asLoroText } from './layout.ts'

/** The length of the text to read on each side of a change, in UTF-16 units. No secret is longer. */
const AROUND = 32_768

/** The nesting of a value is deeper than {@link MAX_CONTAINER_DEPTH}. */
export class TooDeep extends Error {}

/**
 * Every text in the changes of a document, including undone ones, and the document's text around each change. The text
 * around a change joins words that were typed letter by letter. The work grows with the changes, not with the document.
 * Throws {@link TooDeep}.
 *
 * @param changed the containers that the changes have changed, of which only texts are used
 */
export function changedWords(
  doc: LoroDoc,
  changes: readonly JsonChange[],
  changed: readonly { readonly target: ContainerID; readonly diff: Diff }[],
): readonly string[] {
  const words: string[] = []
  for (const { ops } of changes) for (const { content } of ops) collect(content, words, 0)
  for (const { target, diff } of changed) if (diff.type === 'text') words.push(...around(doc, target, diff.diff))
  return words
}

function around(doc: LoroDoc, id: ContainerID, change: readonly Delta<string>[]): readonly string[] {
  const text = asLoroText(doc.getContainerById(id))
  return text === null ? [] : windows(change, text.length).map(([from, to]) => whole(text, from, to))
}

/** The ranges of a text around its changes, merged where they overlap. */
function windows(change: readonly Delta<string>[], length: number): [from: number, to: number][] {
  const found: [number, number][] = []
  let at = 0
  for (const { retain = 0, insert = '', delete: gone = 0 } of change) {
    at += retain
    if (insert === '' && gone === 0) continue
    const [from, to] = [Math.max(0, at - AROUND), Math.min(length, at + insert.length + AROUND)]
    const last = found.at(-1)
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to)
    else found.push([from, to])
    at += insert.length
  }
  return found
}

/** A part of a text, extended by a unit at an end that would split a surrogate pair. */
function whole(text: LoroText, from: number, to: number): string {
  const start = from > 0 && isLow(text.charAt(from)) ? from - 1 : from
  const end = to < text.length && isLow(text.charAt(to)) ? to + 1 : to
  return text.slice(start, end)
}

const isLow = (unit: string): boolean => /^[\udc00-\udfff]/.test(unit)

function collect(value: unknown, into: string[], depth: number): void {
  if (depth > MAX_CONTAINER_DEPTH) throw new TooDeep('a value is too deep')
  if (typeof value === 'string') into.push(value)
  else if (Array.isArray(value)) for (const item of value) collect(item, into, depth + 1)
  else if (value !== null && typeof value === 'object')
    for (const [key, item] of Object.entries(value)) {
      into.push(key)
      collect(item, into, depth + 1)
    }
}
