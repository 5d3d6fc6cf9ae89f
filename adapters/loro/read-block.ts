import type { LoroMap, LoroText } from 'loro-crdt'
import { BLOCK_ATTRS, type BlockType, CELL_ATTRS, type Cell, isBlockType } from '../../domain/document/model/block.ts'
import type { CellRef } from '../../domain/document/model/span-id.ts'
import type { SpanView } from '../../domain/document/model/view.ts'
import type { ReadBlock } from '../../domain/ports/index.ts'
import { asList, asLoroText, asMap } from './layout.ts'
import { textRunsOf } from './styles.ts'

/** The type of a block in the document model, or null. Other replicas can write any value. */
export function typeOf(block: LoroMap): BlockType | null {
  const type = block.get('type')
  return isBlockType(type) && BLOCK_ATTRS[type].safeParse(block.get('attrs')).success ? type : null
}

export const blockTextOf = (block: LoroMap): LoroText | null => asLoroText(block.get('text'))

/** The text of a table cell; null if the cell does not exist. */
export function cellText(block: LoroMap, { row, column }: CellRef): LoroText | null {
  const cell = asMap(asList(asList(block.get('rows'))?.[row])?.[column])
  return cell === null ? null : asLoroText(cell.get('text'))
}

/** Whether a block has the content that its type needs. */
export function isReadable(block: LoroMap): boolean {
  const type = typeOf(block)
  if (type === null || type === 'divider') return type !== null
  return type === 'table' ? cellsOf(block) !== null : blockTextOf(block) !== null
}

/** The span of a block, with the text that `blockText` gives. */
export function blockSpan(block: LoroMap, blockId: string): SpanView {
  const type = typeOf(block)
  const text = type === null ? null : type === 'divider' ? '' : type === 'table' ? tableText(block) : blockTextOf(block)
  return type === null || text === null
    ? { kind: 'unreadable' }
    : { kind: 'block', blockId, type, text: text.toString() }
}

/** A block with its runs. */
export function readBlock(block: LoroMap): ReadBlock {
  const [id, type, attrs] = [block.get('id'), typeOf(block), block.get('attrs')]
  if (typeof id !== 'string' || id === '') return { type: 'unreadable', id: null }
  if (type === 'divider') return { id, type, attrs: {} }
  if (type === 'table') {
    const rows = cellsOf(block)
    return rows === null ? { type: 'unreadable', id } : { id, type, attrs: {}, rows }
  }
  const text = blockTextOf(block)
  if (type === null || text === null) return { type: 'unreadable', id }
  const read = { id, type, attrs, text: textRunsOf(text) } as ReadBlock
  text.free()
  return read
}

function tableText(block: LoroMap): string | null {
  return cellsOf(block) === null
    ? null
    : asList(block.get('rows'))!
        .map((row) =>
          asList(row)!
            .map((cell) => asLoroText(asMap(cell)!.get('text'))!.toString())
            .join('\t'),
        )
        .join('\n')
}

/** The cells of a table; null if a cell is outside the document model. */
function cellsOf(block: LoroMap): Cell[][] | null {
  const rows: Cell[][] = []
  for (const row of asList(block.get('rows')) ?? []) {
    const cells: Cell[] = []
    for (const value of asList(row) ?? []) {
      const cell = asMap(value)
      const text = asLoroText(cell?.get('text'))
      const attrs = CELL_ATTRS.safeParse({
        header: cell?.get('header'),
        colspan: cell?.get('colspan'),
        rowspan: cell?.get('rowspan'),
      })
      if (text === null || !attrs.success) return null
      cells.push({ ...attrs.data, text: textRunsOf(text) })
    }
    if (cells.length === 0) return null
    rows.push(cells)
  }
  return rows.length === 0 ? null : rows
}
