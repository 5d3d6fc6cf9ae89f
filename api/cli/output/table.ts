import { cells, cut, oneLine, pad } from './text.ts'

export interface Column<T> {
  readonly title: string
  readonly of: (row: T) => string | number | null
  /** The text before the cell; its spaces are kept. */
  readonly indent?: (row: T) => string
  readonly side?: 'left' | 'right'
  /** May be cut where the terminal is too narrow. */
  readonly flexible?: boolean
  /** Is left out, the last of these first, where the terminal is too narrow for the rest. */
  readonly optional?: boolean
}

const GAP = '  '

/** Cells that a column which may be cut keeps. */
const KEPT = 8

/** Aligned lines, the title first. `width`: cells of the terminal, which no line exceeds; null: as wide as it gets. */
export function table<T>(rows: readonly T[], columns: readonly Column<T>[], width: number | null): string[] {
  const lines = [
    columns.map((c) => c.title),
    ...rows.map((row) => columns.map((c) => `${c.indent?.(row) ?? ''}${oneLine(String(c.of(row) ?? '-'))}`)),
  ]
  const full = columns.map((_, i) => lines.reduce((most, line) => Math.max(most, cells(line[i]!)), 0))
  const widths = width === null ? full : fitted(columns, full, width)
  const places = [...columns.keys()].filter((i) => widths[i]! > 0)
  return lines.map((line) =>
    places
      .map((i) => pad(cut(line[i]!, widths[i]!), widths[i]!, columns[i]!.side ?? 'left'))
      .join(GAP)
      .trimEnd(),
  )
}

/** Widths that fit; 0: left out. Optional columns go first, then flexible ones are cut, then whichever is the widest. */
function fitted(columns: readonly Column<never>[], full: readonly number[], width: number): number[] {
  const widths = [...full]
  const least = (i: number) => (columns[i]!.flexible ? Math.min(KEPT, full[i]!) : full[i]!)
  const over = (of: (i: number) => number) => {
    const shown = [...widths.keys()].filter((i) => widths[i]! > 0)
    return shown.reduce((sum, i) => sum + of(i) + GAP.length, -GAP.length) - width
  }
  for (let i = columns.length - 1; i >= 0 && over(least) > 0; i--) if (columns[i]!.optional) widths[i] = 0
  columns.forEach((c, i) => {
    if (c.flexible && widths[i]! > 0)
      widths[i] = Math.max(
        least(i),
        widths[i]! -
          Math.max(
            0,
            over((j) => widths[j]!),
          ),
      )
  })
  for (let more = over((i) => widths[i]!); more > 0; more = over((i) => widths[i]!)) {
    const widest = widths.indexOf(Math.max(...widths))
    // Columns of one cell each are as narrow as a table gets.
    if (widths[widest]! <= 1) break
    widths[widest] = Math.max(1, widths[widest]! - Math.max(1, Math.floor(more / columns.length)))
  }
  return widths
}
