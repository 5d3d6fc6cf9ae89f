import type { Block } from './block.ts'
import type { Run } from './runs.ts'

/** One step of an applied request, in order. The dry-run has found each of them possible. */
export type Edit =
  /** The text and marks of a block or table cell become these. */
  | { readonly kind: 'replace'; readonly spanId: string; readonly runs: readonly Run[] }
  /** Blocks behind the block `after`; at the start of the document where it is null. */
  | { readonly kind: 'insert'; readonly after: string | null; readonly blocks: readonly Block[] }
  | { readonly kind: 'delete'; readonly blockId: string }
