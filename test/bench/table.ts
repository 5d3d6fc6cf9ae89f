import { type Figure, goalText, isMet, valueText } from './figure.ts'

const verdict = (figure: Figure): string => {
  const met = isMet(figure)
  return met === null ? '' : met ? 'met' : 'missed'
}

/** The figures as a table for people. */
export function asTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    figure.ours,
    figure.floor,
    valueText(figure),
    figure.goal === null ? '' : goalText(figure.goal),
    verdict(figure),
    figure.note ?? '',
  ])
  const all = [['what', 'ours', 'floor', 'figure', 'goal', '', ''], ...rows]
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  const lines = all.map((row) =>
    row
      .map((cell, column) =>
        column === 0 || column > 3 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}

/** The same, one object per figure. */
export function asJson(figures: readonly Figure[]): string {
  const all = figures.map(({ goal, ...figure }) => ({
    ...figure,
    goal: goal === null ? null : goalText(goal),
    met: isMet({ ...figure, goal }),
  }))
  return `${JSON.stringify(all, null, 2)}\n`
}
