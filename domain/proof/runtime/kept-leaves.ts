import { type LogCheckpoint, parseCheckpoint } from '../../log/proof/checkpoint.ts'
import { equalBytes, HASH_SIZE } from '../../log/proof/encoding.ts'
import { splitNote } from '../../log/proof/note.ts'
import { ifProofError } from '../../log/proof/proof-error.ts'
import { appendLeaves, EMPTY_EDGE, edgeRoot, eventLeaf } from '../../log/proof/tree.ts'
import { TILE_WIDTH } from '../../log/proof/tree-proof.ts'
import type { EventLog } from '../../ports/index.ts'
import type { SignedHead, TreeStore } from '../../ports/proof.ts'

/**
 * Counts the leaves under the last signed head before the first lost leaf. A leaf is lost if the log has no event at its
 * position, or has neither this leaf nor a later one: an older state was put back, and perhaps continued. If the log has
 * a later leaf, another event at the position was changed, not lost. Undefined: the store has no leaves, or others than
 * the head signs, or a damaged head. Reads the header of each event.
 */
export async function keptLeaves(log: EventLog, store: TreeStore): Promise<number | undefined> {
  const head = store.storesLeaves === true ? await store.lastHead() : null
  const signed = head && checkpointOf(head)
  if (!signed) return undefined
  const { size, root } = signed
  const damaged = new Set<number>()
  const events = eventsOf(log, damaged)
  let edge = EMPTY_EDGE
  let lost = size
  let held = 0
  try {
    let event = await events.next()
    for await (const { position, leaf } of leavesOf(store, size)) {
      const index = edge.size
      edge = appendLeaves(edge, [leaf]).edge
      while (event.done !== true && event.value.position < position) event = await events.next()
      if (event.done !== true && event.value.position === position) {
        if (equalBytes(eventLeaf(event.value.hash), leaf)) held = index + 1
      } else if (!damaged.has(position)) lost = Math.min(lost, index)
    }
  } finally {
    await events.return()
  }
  return edge.size === size && equalBytes(edgeRoot(edge), root) ? Math.min(lost, held) : undefined
}

/** Undefined: the note is damaged. */
function checkpointOf({ note }: SignedHead): LogCheckpoint | undefined {
  try {
    return parseCheckpoint(splitNote(note).text)
  } catch (error) {
    return ifProofError(error)
  }
}

/** The events of the log. Adds the positions of unreadable events to `damaged`. */
async function* eventsOf(log: EventLog, damaged: Set<number>) {
  const onDamage = ({ position }: { readonly position: number }) => void damaged.add(position)
  for await (const page of log.readAll(null, { bodies: false, everyKind: true, onDamage })) yield* page
}

/** The first `size` leaves of the store, or fewer if the store lacks one. */
async function* leavesOf(store: TreeStore, size: number) {
  for (let first = 0; first < size; first += TILE_WIDTH) {
    const width = Math.min(TILE_WIDTH, size - first)
    const positions = await store.positions(first, width)
    const tile = await store.tile({ level: 0, index: first / TILE_WIDTH, width })
    if (positions.length < width || tile.length < width * HASH_SIZE) return
    for (const [at, position] of positions.entries())
      yield { position, leaf: tile.subarray(at * HASH_SIZE, (at + 1) * HASH_SIZE) }
  }
}
