import { z } from 'zod'

/** Marks in their canonical order. */
export const MARKS = ['bold', 'italic', 'underline', 'strike', 'code', 'link'] as const
export type Mark = (typeof MARKS)[number]

export const Link = z
  .strictObject({ href: z.string(), rel: z.string(), target: z.string(), title: z.string() })
  .partial({ rel: true, target: true, title: true })
  .readonly()
export type Link = z.infer<typeof Link>

const on = z.literal(true)
/** The marks of a run. Inactive marks are absent. */
export const Marks = z
  .strictObject({ bold: on, italic: on, underline: on, strike: on, code: on, link: Link })
  .partial()
  .readonly()
export type Marks = z.infer<typeof Marks>

/** A piece of text with the same marks. */
export interface TextRun {
  readonly text: string
  readonly marks: Marks
}

/** The marks in canonical order, with sorted link attributes. Equal marks have equal JSON. */
export function orderedMarks(marks: Marks): Marks {
  const { link } = marks
  const entries = MARKS.filter((mark) => marks[mark] !== undefined).map((mark) => [mark, marks[mark]])
  if (link === undefined) return Object.fromEntries(entries)
  const sorted = Object.entries(link).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries([...entries.slice(0, -1), ['link', Object.fromEntries(sorted)]])
}

export const sameMarks = (a: Marks, b: Marks): boolean =>
  a === b || JSON.stringify(orderedMarks(a)) === JSON.stringify(orderedMarks(b))

/** Merges adjacent runs with equal marks and drops empty runs. */
export function mergedRuns(runs: readonly TextRun[]): TextRun[] {
  const merged: { texts: string[]; marks: Marks }[] = []
  for (const { text, marks } of runs) {
    const last = merged.at(-1)
    if (text === '') continue
    if (last !== undefined && sameMarks(last.marks, marks)) last.texts.push(text)
    else merged.push({ texts: [text], marks: orderedMarks(marks) })
  }
  return merged.map(({ texts, marks }) => ({ text: texts.join(''), marks }))
}

export const plainText = (runs: readonly TextRun[]): string => runs.map(({ text }) => text).join('')
