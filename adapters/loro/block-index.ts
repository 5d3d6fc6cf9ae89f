import type { Container, ContainerID, LoroDoc, LoroEventBatch, LoroMap, LoroMovableList, LoroText } from 'loro-crdt'
import { cellId, parseCellId } from '../../domain/document/model/span-id.ts'
import type { SpanView } from '../../domain/document/model/view.ts'
import type { ReadBlock } from '../../domain/ports/index.ts'
import { asMap, blocksOf } from './layout.ts'
import { blockSpan, blockTextOf, cellText, readBlock, typeOf } from './read-block.ts'

/**
 * Finds the blocks of a replica by id without reading all blocks each time. Notes new blocks and ids when they arrive.
 * Detects deleted blocks at look-up.
 */
export class BlockIndex {
  readonly list: LoroMovableList
  readonly #doc: LoroDoc
  /** Null: not read yet. An id with several containers has copies or deleted blocks. */
  #containers: Map<string, Set<ContainerID>> | null = null
  /** The blocks as last read, without the changed ones. Reading a block again crosses into WebAssembly many times. */
  #blocks = new Map<ContainerID, ReadBlock>()

  constructor(doc: LoroDoc) {
    this.#doc = doc
    this.list = blocksOf(doc)
  }

  span(spanId: string): SpanView {
    const own = this.#live(spanId)
    if (own.length > 1) return { kind: 'unreadable' }
    if (own[0] !== undefined) return blockSpan(own[0], spanId)
    const cell = parseCellId(spanId)
    const blocks = cell === null ? [] : this.#live(cell.blockId)
    if (cell === null || blocks.length === 0) return { kind: 'missing' }
    if (blocks.length > 1 || typeOf(blocks[0]!) === null) return { kind: 'unreadable' }
    const text = cellText(blocks[0]!, cell)
    if (text === null || typeOf(blocks[0]!) !== 'table') return { kind: 'missing' }
    return { kind: 'cell', blockId: cell.blockId, type: 'table', text: text.toString() }
  }

  /** The text of a block or table cell, or null. */
  text(spanId: string): LoroText | null {
    const own = this.#live(spanId)[0]
    if (own !== undefined) return blockTextOf(own)
    const cell = parseCellId(spanId)
    const block = cell === null ? undefined : this.#live(cell.blockId)[0]
    return cell === null || block === undefined ? null : cellText(block, cell)
  }

  /** The position of a block in the list. Throws if no block or several blocks have the id. */
  position(blockId: string): number {
    const blocks = this.#live(blockId)
    const path = blocks.length === 1 ? this.#doc.getPathToContainer(blocks[0]!.id) : undefined
    if (typeof path?.[1] !== 'number') throw new Error(`there is no one block "${blockId}"`)
    return path[1]
  }

  /** The id of several blocks, if there is one. */
  ambiguousId(): string | null {
    this.#containers ??= this.#read()
    for (const [id, containers] of this.#containers) if (containers.size > 1 && this.#live(id).length > 1) return id
    return null
  }

  /** Every element of the list. An unchanged block is the same object as in the previous call. */
  blocks(): ReadBlock[] {
    const before = this.#blocks
    this.#blocks = new Map()
    return this.list.toArray().map((value): ReadBlock => {
      const map = asMap(value)
      if (map === null) return { type: 'unreadable', id: null }
      const block = before.get(map.id) ?? readBlock(map)
      this.#blocks.set(map.id, block)
      map.free()
      return block
    })
  }

  /**
   * The texts of blocks and table cells in order. Leaves out what `blocks` calls unreadable, and blocks that share an id.
   */
  *texts(): Generator<{ readonly spanId: string; readonly text: LoroText }> {
    const maps = this.list.toArray().map(asMap)
    const ids = maps.map((map) => map?.get('id'))
    const seen = new Map<unknown, number>()
    for (const id of ids) seen.set(id, (seen.get(id) ?? 0) + 1)
    for (const [n, map] of maps.entries()) {
      const id = ids[n]
      if (map === null || typeof id !== 'string' || id === '' || seen.get(id) !== 1) continue
      const type = typeOf(map)
      if (type === 'table') yield* cellTexts(map, id)
      else if (type !== null && type !== 'divider') {
        const text = blockTextOf(map)
        if (text !== null) yield { spanId: id, text }
      }
      map.free()
    }
  }

  /**
   * Releases the list. An unreleased part keeps the memory of the whole document, which the garbage collector cannot
   * see.
   */
  free(): void {
    this.list.free()
  }

  /** Notes that the caller changes the text of a block or table cell. */
  changing(spanId: string): void {
    const blocks = this.#live(spanId)
    for (const block of blocks.length > 0 ? blocks : this.#live(parseCellId(spanId)?.blockId ?? ''))
      this.#blocks.delete(block.id)
  }

  /** Notes a block that was inserted into the list. */
  inserted(block: LoroMap): void {
    if (this.#containers !== null) note(this.#containers, block)
  }

  /**
   * Runs an import, notes the imported blocks, and passes the changes to `see`. Subscribes only during the import,
   * because Loro's descriptions of changes are expensive.
   */
  importing<T>(work: () => T, see?: (batch: LoroEventBatch) => void): T {
    if (this.#containers === null && this.#blocks.size === 0 && see === undefined) return work()
    const stop = this.#doc.subscribe((batch) => {
      this.#follow(batch)
      see?.(batch)
    })
    try {
      return work()
    } finally {
      stop()
    }
  }

  #live(blockId: string): LoroMap[] {
    this.#containers ??= this.#read()
    const found: LoroMap[] = []
    for (const id of this.#containers.get(blockId) ?? []) {
      const map = asMap(this.#doc.getContainerById(id))
      if (map !== null && !map.isDeleted() && map.get('id') === blockId) found.push(map)
      else this.#containers.get(blockId)!.delete(id)
    }
    return found
  }

  #read(): Map<string, Set<ContainerID>> {
    const containers = new Map<string, Set<ContainerID>>()
    for (const value of this.list.toArray()) {
      note(containers, value)
      asMap(value)?.free()
    }
    return containers
  }

  /** Forgets the block that contains a changed container. */
  #forget(target: ContainerID): void {
    let part: Container | undefined = this.#doc.getContainerById(target)
    while (part !== undefined && !this.#blocks.delete(part.id)) part = part.parent()
  }

  #follow({ events }: LoroEventBatch): void {
    for (const { target } of events) this.#forget(target)
    if (this.#containers === null) return
    for (const { path, diff, target } of events) {
      if (path[0] !== 'blocks') continue
      if (path.length === 1 && diff.type === 'list')
        for (const { insert = [] } of diff.diff) for (const value of insert) note(this.#containers, value)
      else if (path.length === 2 && diff.type === 'map' && 'id' in diff.updated)
        note(this.#containers, this.#doc.getContainerById(target))
    }
  }
}

function* cellTexts(map: LoroMap, blockId: string) {
  const block = readBlock(map)
  if (block.type !== 'table') return
  for (const [row, cells] of block.rows.entries())
    for (const column of cells.keys()) {
      const place = { blockId, row, column }
      const text = cellText(map, place)
      if (text !== null) yield { spanId: cellId(place), text }
    }
}

function note(containers: Map<string, Set<ContainerID>>, value: unknown): void {
  const map = asMap(value)
  const id = map?.get('id')
  if (map === null || typeof id !== 'string' || id === '') return
  const known = containers.get(id)
  if (known === undefined) containers.set(id, new Set([map.id]))
  else known.add(map.id)
}
