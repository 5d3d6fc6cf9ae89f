import type { Node } from 'prosemirror-model'
import type { Transaction } from 'prosemirror-state'
import { commonEnds } from '../../../../domain/document/model/common-ends.ts'
import type { ReadBlock } from '../../../../domain/ports/index.ts'
import { blockOf, nodeOf, pair } from './convert.ts'
import { schema } from './schema.ts'

// The document of the editor as a list of blocks. An unchanged block is the same node, so only changed blocks are converted.

/** A document is never without a block: an empty one shows a paragraph, which becomes a block with its first letter. */
export function docOf(blocks: readonly ReadBlock[]): Node {
  const children = blocks.map(nodeOf)
  return schema.nodes.doc.create(null, children.length === 0 ? [schema.nodes.paragraph.create()] : children)
}

/** Whether a node is a block. New blocks have ids, except for the paragraph that an empty document shows. */
const isBlock = ({ attrs, type }: Node): boolean => attrs.id !== null || type === schema.nodes.unreadable

/** The blocks of a document. */
const blocksOf = (doc: Node): readonly ReadBlock[] => doc.children.filter(isBlock).map(blockOf)

/** The blocks that differ between two documents: those after the first `head` ones. Equal blocks are the same node. */
export function changedBlocks(before: Node, after: Node) {
  const [old, now] = [before.children, after.children]
  const { head, tail } = commonEnds(old, now)
  return { head, removed: old.slice(head, old.length - tail), added: now.slice(head, now.length - tail) }
}

/** The blocks of a document after a change. Converts only the changed ones. */
export function blocksAfter(blocks: readonly ReadBlock[], before: Node, after: Node): readonly ReadBlock[] {
  const { head, removed, added } = changedBlocks(before, after)
  if (blocks.length !== before.childCount || !added.every(isBlock)) return blocksOf(after)
  return blocks.toSpliced(head, removed.length, ...added.map(blockOf))
}

/** Changes a document to these blocks, by changes as small as possible. */
export function replaceBlocks(tr: Transaction, blocks: readonly ReadBlock[]): void {
  const present = tr.doc.children
  const wanted = docOf(blocks).children
  const idOf = ({ attrs }: Node) => attrs.id
  const shorter = Math.min(present.length, wanted.length)
  let head = 0
  while (head < shorter && idOf(present[head]!) === idOf(wanted[head]!)) head += 1
  let tail = 0
  while (tail < shorter - head && idOf(present.at(-1 - tail)!) === idOf(wanted.at(-1 - tail)!)) tail += 1
  const starts: number[] = [0]
  for (const node of present) starts.push(starts.at(-1)! + node.nodeSize)
  const change = (i: number, next: Node) => changeBlock(tr, starts[i]!, present[i]!, next)
  // From the end to the start: the positions before a change stay.
  for (let i = 0; i < tail; i++) change(present.length - 1 - i, wanted.at(-1 - i)!)
  const [from, to] = [starts[head]!, starts[present.length - tail]!]
  const between = wanted.slice(head, wanted.length - tail)
  if (from < to || between.length > 0) tr.replaceWith(from, to, between)
  for (let i = head - 1; i >= 0; i--) change(i, wanted[i]!)
}

function changeBlock(tr: Transaction, start: number, before: Node, after: Node): void {
  if (before === after) return
  if (before.eq(after)) return pair(before, blockOf(after))
  if (before.type.isLeaf || after.type.isLeaf) {
    tr.replaceWith(start, start + before.nodeSize, after)
    return
  }
  if (!before.hasMarkup(after.type, after.attrs)) {
    // The content must fit the new type. What differs of it comes with the next step.
    if (
      before.inlineContent !== after.inlineContent ||
      (after.type === schema.nodes.code && before.type !== after.type)
    ) {
      tr.replaceWith(start, start + before.nodeSize, after)
      return
    }
    tr.setNodeMarkup(start, after.type, after.attrs)
  }
  const from = before.content.findDiffStart(after.content)
  const end = before.content.findDiffEnd(after.content)
  if (from === null || end === null) return
  // The common end must not reach over the common start.
  const over = Math.max(0, from - Math.min(end.a, end.b))
  tr.replace(start + 1 + from, start + 1 + end.a + over, after.slice(from, end.b + over))
}
