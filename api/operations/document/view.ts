import { toHtml } from '../../../domain/document/markup/document-html.ts'
import { toMarkdown } from '../../../domain/document/markup/markdown.ts'
import { blockText } from '../../../domain/document/model/block.ts'
import { contextHash } from '../../../domain/document/model/context-hash.ts'
import { plainText } from '../../../domain/document/model/runs.ts'
import { cellId } from '../../../domain/document/model/span-id.ts'
import type { DocumentAt } from '../../../domain/document/runtime/types.ts'
import type { ReadBlock } from '../../../domain/ports/index.ts'
import type { DocumentView } from './schemas.ts'

/** A document as JSON: its blocks, each with the hash for preconditions. */
export const documentView = ({ blocks, ...at }: DocumentAt): DocumentView => ({ ...at, blocks: blocks.map(keptView) })

type BlockView = DocumentView['blocks'][number]

/** An open document returns an unchanged block as the same object, so its hashes can be cached. */
const views = new WeakMap<ReadBlock, BlockView>()

function keptView(block: ReadBlock): BlockView {
  const view = views.get(block) ?? blockView(block)
  views.set(block, view)
  return view
}

function blockView(block: ReadBlock): BlockView {
  if (block.type === 'unreadable') return block
  const hash = contextHash(block.id, blockText(block))
  if (block.type !== 'table') return { ...block, hash } as BlockView
  const rows = block.rows.map((cells, row) =>
    cells.map((cell, column) => ({
      ...cell,
      span_id: cellId({ blockId: block.id, row, column }),
      hash: contextHash(block.id, plainText(cell.text)),
    })),
  )
  return { ...block, rows, hash } as never
}

export const documentText = (format: 'markdown' | 'html', { blocks }: DocumentAt): string =>
  format === 'html' ? toHtml(blocks) : toMarkdown(blocks)
