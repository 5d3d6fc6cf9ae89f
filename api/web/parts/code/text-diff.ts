import { createTwoFilesPatch } from 'diff'

/** The longest texts that are compared, in UTF-16 code units together. Longer texts would block the page. */
const MOST = 400_000
/** The most edits between two texts. The running time grows with the number of edits. */
const EDITS = 4_000

/** The unified diff of two texts. Null: the texts are too long or too different to compare. */
export function textDiff(a: string, b: string): string | null {
  if (a.length + b.length > MOST) return null
  // Add the final newline, so the diff does not report a missing one.
  const found = createTwoFilesPatch('a', 'b', `${a}\n`, `${b}\n`, '', '', { context: 3, maxEditLength: EDITS })
  if (found === undefined) return null
  // Remove the file header, whose names mean nothing here.
  const place = found.indexOf('@@')
  return place < 0 ? '' : found.slice(place)
}

/** A value as text for comparison. Members are sorted, so their order makes no difference. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(inOrder(value), null, 2)

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([p], [q]) => (p < q ? -1 : 1))
      .map(([k, v]) => [k, inOrder(v)]),
  )
}
