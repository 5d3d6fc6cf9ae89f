import type { BlockContent, TextContent } from '../model/block.ts'
import type { TextRun } from '../model/runs.ts'

/** An element or text at a place that the document model does not allow. The schema check refuses it. */
export interface Misplaced {
  readonly type: 'misplaced'
  readonly what: string
  readonly within: string
}

/**
 * The canonical tree: blocks in document order, nested lists as indented items, no empty blocks. Equal meaning gives
 * equal trees.
 */
export type Canonical = readonly CanonicalNode[]
export type CanonicalNode = BlockContent | Misplaced

/** The canonical content of a span. */
export interface CanonicalSpan {
  readonly runs: readonly TextRun[]
  /** The first block element in the span. The schema check refuses it. */
  readonly misplaced: Misplaced | null
}

export const misplaced = (what: string, within: string): Misplaced => ({ type: 'misplaced', what, within })

/** A block with text. Empty if the text is empty. */
export const textBlock = (head: TextHead, text: readonly TextRun[]): readonly CanonicalNode[] =>
  text.length === 0 ? [] : [{ ...head, text } as TextContent]

export type TextHead = TextContent extends infer T ? (T extends TextContent ? Omit<T, 'text'> : never) : never
