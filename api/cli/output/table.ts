import { cells, oneLine, pad, truncateToWidth } from './text.ts'

export interface Column<T> {
  readonly title: string
  readonly of: (row: T) => string | number | null
  /** Text before the cell. Its spaces are kept. */
  readonly indent?: (row: T) => string
  readonly side?: 'left' | 'right'
  /** May be truncated on a narrow terminal. */
  readonly flexible?: boolean
  /** May be omitted on a narrow terminal. The last optional column is omitted first. */
  readonly optional?: boolean
}

const GAP = '  '

/** The minimum width of a truncated flexible column, in terminal cells. */
const KEPT = 8

/** Aligned lines with a title line first. `width`: the most terminal cells per line; null: unlimited. */
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
      .map((i) => pad(truncateToWidth(line[i]!, widths[i]!), widths[i]!, columns[i]!.side ?? 'left'))
      .join(GAP)
      .trimEnd(),
  )
}

/**
 * Column widths that fit. 0: omitted. Omits optional columns first, then truncates flexible columns, then the widest
 * ones.
 */
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
    // All columns have one cell. The table cannot become narrower.
    if (widths[widest]! <= 1) break
    widths[widest] = Math.max(1, widths[widest]! - Math.max(1, Math.floor(more / columns.length)))
  }
  return widths
}
