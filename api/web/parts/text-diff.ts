import { createTwoFilesPatch } from 'diff'

/** Longer texts are not compared line by line: it would hold the page up, UTF-16 code units. */
const MOST = 400_000
/** Of edits between two texts, which is what the time grows with. */
const EDITS = 4_000

/** The lines in which two texts differ, as a unified diff; null: they are too long, or differ too much, to compare. */
export function textDiff(a: string, b: string): string | null {
  if (a.length + b.length > MOST) return null
  // Each ends its last line: these are values, not files.
  const found = createTwoFilesPatch('a', 'b', `${a}\n`, `${b}\n`, '', '', { context: 3, maxEditLength: EDITS })
  if (found === undefined) return null
  // The names above the first place say nothing here.
  const place = found.indexOf('@@')
  return place < 0 ? '' : found.slice(place)
}

/** A value as the text that is compared: members in one order, so that only what differs stands out. */
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
