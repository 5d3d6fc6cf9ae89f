import type { Delta, LoroDoc, LoroText } from 'loro-crdt'
import { MARKS, Marks, mergedRuns, type TextRun } from '../../domain/document/model/runs.ts'

// Marks are Loro text styles of the same names. The value is `true`, or the attributes of a link.

/**
 * Text typed at the end of bold text is bold; text typed at the end of code or a link is plain. Call before the first
 * edit.
 */
export function configureStyles(doc: LoroDoc): void {
  doc.configTextStyle({
    bold: { expand: 'after' },
    italic: { expand: 'after' },
    underline: { expand: 'after' },
    strike: { expand: 'after' },
    code: { expand: 'none' },
    link: { expand: 'none' },
  })
  // Marks outside the document model do not expand.
  doc.configDefaultTextStyle({ expand: 'none' })
}

export const toDelta = (runs: readonly TextRun[]): Delta<string>[] =>
  runs.map(({ text, marks }) => ({ insert: text, attributes: { ...marks } }))

/** The runs of a text, without marks outside the document model. */
export function textRunsOf(text: LoroText): TextRun[] {
  return mergedRuns(
    text.toDelta().map(({ insert = '', attributes = {} }) => ({ text: insert, marks: known(attributes) })),
  )
}

function known(attributes: Readonly<Record<string, unknown>>): Marks {
  const entries = MARKS.filter((mark) => attributes[mark] !== undefined && attributes[mark] !== null)
    .map((mark) => ({ [mark]: attributes[mark] }))
    .filter((entry) => Marks.safeParse(entry).success)
  return Object.assign({}, ...entries)
}
