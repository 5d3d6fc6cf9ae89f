import { cells, cut, oneLine, pad } from './text.ts'

export interface Column<T> {
  readonly title: string
  readonly of: (row: T) => string | number | null
  readonly side?: 'left' | 'right'
  /** May be cut where the terminal is too narrow. */
  readonly flexible?: boolean
}

const GAP = '  '

/** Aligned lines, the title first. `width`: cells of the terminal; null: as wide as it gets. */
export function table<T>(rows: readonly T[], columns: readonly Column<T>[], width: number | null): string[] {
  const lines = [
    columns.map((c) => c.title),
    ...rows.map((row) => columns.map((c) => oneLine(String(c.of(row) ?? '-')))),
  ]
  const widths = columns.map((_, i) => lines.reduce((most, line) => Math.max(most, cells(line[i]!)), 0))
  if (width !== null) {
    let over = widths.reduce((a, b) => a + b, 0) + GAP.length * (columns.length - 1) - width
    columns.forEach((c, i) => {
      if (!c.flexible || over <= 0) return
      const kept = Math.max(8, widths[i]! - over)
      over -= Math.max(0, widths[i]! - kept)
      widths[i] = Math.min(widths[i]!, kept)
    })
  }
  return lines.map((line) =>
    line
      .map((text, i) => pad(cut(text, widths[i]!), widths[i]!, columns[i]!.side ?? 'left'))
      .join(GAP)
      .trimEnd(),
  )
}
