import type { Container, ContainerID, JsonChange, LoroDoc } from 'loro-crdt'
import { parseCellId } from '../../domain/document/model/span-id.ts'
import type { BlockIndex } from './block-index.ts'
import { containersIn } from './depth.ts'
import { asMap } from './layout.ts'
import { isReadable } from './read-block.ts'

/**
 * The fault of the first block that imported changes leave outside the document model; null if there is none. Reads
 * only blocks that the changes touch.
 */
export function outsideModel(doc: LoroDoc, index: BlockIndex, changes: readonly JsonChange[]): string | null {
  const list = index.list.id
  const touched = new Set<ContainerID>()
  let moves = false
  for (const { ops } of changes)
    for (const { container, content } of ops) {
      if (container !== list) {
        // A change of a text does not change the form of its block.
        if (!container.endsWith(':Text')) touched.add(container)
      } else if ('value' in content) {
        const values: readonly unknown[] = Array.isArray(content.value) ? content.value : [content.value]
        const made = containersIn(values)
        if (made.length < values.length) return 'it puts a value that is no block into the list of blocks'
        for (const block of made) touched.add(block as ContainerID)
      } else if (content.type === 'move') moves = true
    }
  // A move brings back a block that another person deleted at the same time. That person may have made another with its id.
  const twice = moves ? index.ambiguousId() : null
  if (twice !== null) return `it brings back a block of which there is another: ${JSON.stringify(twice.slice(0, 64))}`
  const checked = new Set<ContainerID>()
  for (const id of touched) {
    const block = blockOf(doc.getContainerById(id), list)
    if (block === null || checked.has(block.id)) continue
    checked.add(block.id)
    const fault = faultOf(block, index)
    if (fault !== null) return fault
  }
  return null
}

/** The member of the block list that is or contains a container; null if none does. */
function blockOf(container: Container | undefined, list: ContainerID): Container | null {
  let at = container
  for (let parent = at?.parent(); parent !== undefined && parent.id !== list; parent = at?.parent()) at = parent
  const map = asMap(at)
  return at === undefined || at.parent()?.id !== list || map?.isDeleted() === true ? null : at
}

function faultOf(block: Container, index: BlockIndex): string | null {
  const map = asMap(block)
  const id = map?.get('id')
  if (map === null || typeof id !== 'string' || id === '') return 'it makes a block without an id'
  const named = `block ${JSON.stringify(id.slice(0, 64))}`
  if (parseCellId(id) !== null) return `it gives ${named} an id of the form of a table cell's`
  if (!isReadable(map)) return `it gives ${named} a type, attributes or content that the document model does not have`
  return index.span(id).kind === 'unreadable' ? `it makes another ${named}` : null
}
