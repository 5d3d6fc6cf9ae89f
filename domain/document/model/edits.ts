import type { DocumentBlock } from './block.ts'
import type { TextRun } from './runs.ts'

/** One step of an applied request, in order. The dry-run has validated each step. */
export type Edit =
  /** Replaces the text and marks of a block or table cell. */
  | { readonly kind: 'replace'; readonly spanId: string; readonly runs: readonly TextRun[] }
  /** Inserts blocks after the block `after`. Null: at the start of the document. */
  | { readonly kind: 'insert'; readonly after: string | null; readonly blocks: readonly DocumentBlock[] }
  | { readonly kind: 'delete'; readonly blockId: string }
  /** Replaces a range of a span's text, in UTF-16 units. Equal words keep their marks. */
  | {
      readonly kind: 'replace_range'
      readonly spanId: string
      readonly start: number
      readonly end: number
      readonly text: string
    }
