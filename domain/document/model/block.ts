import { z } from 'zod'
import { plainText, type TextRun } from './runs.ts'

/** The attributes of each block type. */
export const BLOCK_ATTRS = {
  paragraph: z.strictObject({}),
  heading: z.strictObject({ level: z.int().min(1).max(6) }),
  quote: z.strictObject({}),
  code: z.strictObject({ language: z.string().max(64).nullable() }),
  list_item: z.strictObject({ ordered: z.boolean(), indent: z.int().min(0).max(8) }),
  table: z.strictObject({}),
  divider: z.strictObject({}),
} as const

export type BlockType = keyof typeof BLOCK_ATTRS
export type BlockAttrs<T extends BlockType> = Readonly<z.infer<(typeof BLOCK_ATTRS)[T]>>

export const CELL_ATTRS = z.strictObject({
  header: z.boolean(),
  colspan: z.int().min(1).max(1000),
  rowspan: z.int().min(1).max(1000),
})

export interface Cell extends Readonly<z.infer<typeof CELL_ATTRS>> {
  readonly text: readonly TextRun[]
}

type TextType = Exclude<BlockType, 'table' | 'divider'>
/** A block with a text. The text is a span. */
export type TextContent = {
  [T in TextType]: { readonly type: T; readonly attrs: BlockAttrs<T>; readonly text: readonly TextRun[] }
}[TextType]

/** The content of a block. Only tables have rows. Dividers have neither rows nor text. */
export type BlockContent =
  | TextContent
  | { readonly type: 'table'; readonly attrs: BlockAttrs<'table'>; readonly rows: readonly (readonly Cell[])[] }
  | { readonly type: 'divider'; readonly attrs: BlockAttrs<'divider'> }

/** A block of a document. Its id is the id of its span. */
export type DocumentBlock = BlockContent & { readonly id: string }

export const isBlockType = (type: unknown): type is BlockType =>
  typeof type === 'string' && Object.hasOwn(BLOCK_ATTRS, type)

/**
 * The text of a block's span, which the context hash covers. A table has the texts of its cells, joined by TAB within a
 * row and by LF between rows, so a change in a cell makes a deletion of the table fail. A divider has the empty text.
 */
export function blockText(block: BlockContent): string {
  if (block.type === 'divider') return ''
  if (block.type !== 'table') return plainText(block.text)
  return block.rows.map((row) => row.map(({ text }) => plainText(text)).join('\t')).join('\n')
}

/** Why the content is outside the document model, or null. */
export function contentFault(block: BlockContent): string | null {
  const attrs = BLOCK_ATTRS[block.type].safeParse(block.attrs)
  if (!attrs.success) return `${block.type}: ${at(attrs.error)}`
  if (block.type === 'code' && block.text.some(({ marks }) => Object.keys(marks).length > 0))
    return 'code: its text has no marks'
  if (block.type !== 'table') return null
  if (block.rows.length === 0 || block.rows.some((row) => row.length === 0)) return 'table: a row without cells'
  for (const { text: _, ...rest } of block.rows.flat()) {
    const cell = CELL_ATTRS.safeParse(rest)
    if (!cell.success) return `table cell: ${at(cell.error)}`
  }
  return null
}

const at = ({ issues: [issue] }: z.ZodError): string => `${issue!.path.join('.')}: ${issue!.message}`
