import type { Node } from 'prosemirror-model'

/** A change of a document's blocks: after the first `head` blocks, `added` replaces `removed`. */
export interface ChangedBlocks {
  readonly before: Node
  readonly head: number
  readonly removed: readonly Node[]
  readonly added: readonly Node[]
}

/** The characters of some blocks without their boundaries, and the position of each in the document. */
interface Characters {
  readonly text: string
  readonly at: readonly number[]
}

/**
 * Returns the position of a caret after a change by others. The caret stays next to its character, even if the change moved
 * the character to another block, for example by splitting a paragraph. Null: the change did not reach the caret's block, or
 * it deleted the character.
 */
export function caretAfter({ before, head, removed, added }: ChangedBlocks, caret: number): number | null {
  const from = sizeOf(before.children.slice(0, head))
  if (caret < from || caret > from + sizeOf(removed)) return null
  const [old, now] = [charactersOf(removed, from), charactersOf(added, from)]
  // At the start of its block, a caret stays before its next character, elsewhere after its last one.
  const isAfter = before.resolve(caret).parentOffset > 0
  const index = old.at.indexOf(isAfter ? caret - 1 : caret)
  const moved = index < 0 ? null : indexAfter(old.text, now.text, index)
  return moved === null ? null : now.at[moved]! + (isAfter ? 1 : 0)
}

const sizeOf = (blocks: readonly Node[]): number => blocks.reduce((sum, { nodeSize }) => sum + nodeSize, 0)

/** The index of a character in a text after one change of it. Null: it is within the change. */
function indexAfter(old: string, now: string, index: number): number | null {
  const shorter = Math.min(old.length, now.length)
  let head = 0
  while (head < shorter && old[head] === now[head]) head++
  if (index < head) return index
  let tail = 0
  while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  return index >= old.length - tail ? index + now.length - old.length : null
}

function charactersOf(blocks: readonly Node[], from: number): Characters {
  const at: number[] = []
  let text = ''
  let start = from
  for (const block of blocks) {
    block.descendants((node, offset) => {
      if (!node.isInline) return
      const characters = node.isText ? node.text! : '\n'
      text += characters
      for (let i = 0; i < characters.length; i++) at.push(start + 1 + offset + i)
    })
    start += block.nodeSize
  }
  return { text, at }
}
