import { byteLength, headAndTail, RESULT_BYTES } from '../../../domain/calls/truncate.ts'
import { htmlText } from '../../../domain/document/markup/html.ts'
import { renderRuns } from '../../../domain/document/markup/render.ts'
import { blockText, type DocumentBlock } from '../../../domain/document/model/block.ts'
import { contextHash } from '../../../domain/document/model/context-hash.ts'
import { plainText, type TextRun } from '../../../domain/document/model/runs.ts'
import { cellId } from '../../../domain/document/model/span-id.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { ReadBlock } from '../../../domain/ports/index.ts'

/** The limit of a page's blocks, in bytes. The rest is for the other members of the result. */
const PAGE_BYTES = RESULT_BYTES - 2048

type Redact = (text: string) => string

/**
 * As many blocks after `after` (absent: from the first block on) as fit into a result. `next`: the id of the last one,
 * if more blocks follow. Null: the block `after` does not exist. A single block that is too long is truncated. `redact`
 * runs before the truncation, which could split a secret.
 */
export function blocksAfter(
  blocks: readonly ReadBlock[],
  after: string | undefined,
  redact: Redact = (text) => text,
): { readonly blocks: readonly JsonObject[]; readonly next?: string } | null {
  const from = after === undefined ? 0 : blocks.findIndex(({ id }) => id === after) + 1
  if (after !== undefined && from === 0) return null
  const shown: JsonObject[] = []
  let left = PAGE_BYTES
  let last: string | null = null
  for (const block of blocks.slice(from)) {
    const whole = shownBlock(block, redact)
    const bytes = byteLength(JSON.stringify(whole))
    if (bytes > left && last !== null) return { blocks: shown, next: last }
    shown.push(bytes > left ? shortened(whole, left) : whole)
    left -= bytes
    last = block.id ?? last
  }
  return { blocks: shown }
}

function shownBlock(block: ReadBlock, redact: Redact): JsonObject {
  if (block.type === 'unreadable') return { span_id: block.id, type: block.type }
  const { id, type, attrs } = block
  const head = { span_id: id, type, ...attrs, hash: contextHash(id, blockText(block)) }
  if (type === 'divider') return head
  if (type !== 'table') return { ...head, content: redact(contentOf(block)) }
  const rows = block.rows.map((cells, row) =>
    cells.map(({ text, header, colspan, rowspan }, column) => ({
      span_id: cellId({ blockId: id, row, column }),
      ...(header ? { header } : {}),
      ...(colspan === 1 ? {} : { colspan }),
      ...(rowspan === 1 ? {} : { rowspan }),
      ...{ hash: contextHash(id, plainText(text)), content: redact(inline(text)) },
    })),
  )
  return { ...head, rows }
}

const contentOf = (block: Exclude<DocumentBlock, { type: 'table' | 'divider' }>): string =>
  block.type === 'code' ? htmlText([plainText(block.text)]) : inline(block.text)

const inline = (runs: readonly TextRun[]): string => htmlText(renderRuns(runs))

function shortened({ content, rows, ...head }: JsonObject, bytes: number): JsonObject {
  if (typeof content !== 'string')
    return { ...head, note: `this table of ${(rows as unknown[]).length} rows is too long to be shown` }
  // JSON escapes some characters, so they take two.
  const half = Math.floor((bytes - byteLength(JSON.stringify(head))) / 2)
  return { ...head, content: headAndTail(content, half, () => 'the hash is that of the whole text') }
}
